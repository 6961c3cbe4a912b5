// How long collectives take beside the MPI library's own: in the same processes, by turns (bench_driver/turns.hpp). A
// call of ours includes looking its plan up; the first one makes the plan.
#pragma once

#include "bench_driver/job.hpp"
#include "bench_driver/task.hpp"

namespace kumihimo::bench_driver {

// Prints a result for every case. Consecutive cases with the same question and space share the turns.
Status run_measure(Job& job, const Task& task);

} // namespace kumihimo::bench_driver
