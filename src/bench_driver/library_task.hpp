// The MPI library's own collectives and nothing else: their times, or marks that tell which algorithm ran.
#pragma once

#include "bench_driver/job.hpp"
#include "bench_driver/task.hpp"

namespace kumihimo::bench_driver {

// Prints a result for every call of every question. Measured, those of one question take turns. Else each has its
// fingerprint; one that the library refuses, as where it was told to fail rather than to fall back, has
// {"not_applicable": its sentence} in its place.
Status run_library(Job& job, const Task& task);

} // namespace kumihimo::bench_driver
