// Threads for a search: mapping::Tools::parallel.
#pragma once

#include <sched.h>

#include <cstddef>
#include <functional>

namespace kumihimo::mapping_run {

// A function that calls work(0) ... work(parts - 1) on up to `threads` threads, the caller's among them, and returns
// when all are done. An exception of a part is thrown again. Threads start and end with each call.
std::function<void(int, const std::function<void(int)>&)> parallel_on(int threads);

// How many processors this process may use, at least 1. `affinity` tells as sched_getaffinity() does.
int allowed_processors(int (*affinity)(pid_t, std::size_t, cpu_set_t*) = sched_getaffinity);

} // namespace kumihimo::mapping_run
