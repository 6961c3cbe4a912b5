// The figures of this machine that a prediction needs, measured between two ranks of it: how fast one copies from the
// other, what a message costs, how fast a thread reduces.
#pragma once

#include "bench_driver/job.hpp"
#include "bench_driver/task.hpp"

namespace kumihimo::bench_driver {

// Prints {"calibration": {...}}, rates in bytes per second and times in seconds. Error: fewer than 2 ranks.
//
// A message of 8 bytes there and back gives twice message_cost + message_latency + relay_latency; the first is what
// each further message of a burst adds, the last what each further round of local work adds, the second is the rest.
Status run_calibration(Job& job, const Task& task);

} // namespace kumihimo::bench_driver
