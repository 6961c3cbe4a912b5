// What a collective costs a program: called by the name that programs call, so that an interposer which is loaded takes
// it over. Turns (bench_driver/turns.hpp) measure calls that begin together; a program's calls follow one another, or
// find caches filled by other work and the MPI library busy with other messages.
#pragma once

#include "bench_driver/job.hpp"
#include "bench_driver/task.hpp"

namespace kumihimo::bench_driver {

// Prints a result for every case, whose algorithm is not looked at: seconds of a call, the mean over ranks and calls,
// back to back and between other work.
Status run_rehearsal(Job& job, const Task& task);

} // namespace kumihimo::bench_driver
