// Threads for a search: mapping::Tools::parallel.
#pragma once

#include <functional>

namespace kumihimo::mapping_run {

// A function that calls work(0) ... work(parts - 1) on up to `threads` threads, the caller's among them, and returns
// when all are done. An exception of a part is thrown again. Threads start and end with each call.
std::function<void(int, const std::function<void(int)>&)> parallel_on(int threads);

} // namespace kumihimo::mapping_run
