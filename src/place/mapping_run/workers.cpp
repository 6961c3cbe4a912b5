#include "mapping_run/workers.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace kumihimo::mapping_run {

std::function<void(int, const std::function<void(int)>&)> parallel_on(int threads) {
  return [threads](int parts, const std::function<void(int)>& work) {
    std::atomic<int> next{0};
    std::exception_ptr problem;
    std::mutex first_problem;
    const auto take = [&] {
      for (int part = next++; part < parts; part = next++) try {
          work(part);
        } catch (...) {
          const std::lock_guard hold(first_problem);
          if (!problem) problem = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    try {
      for (int other = 1; other < std::min(threads, parts); ++other) others.emplace_back(take);
    } catch (const std::system_error&) { // no more threads are to be had: those that are here do the work
    }
    take();
    for (std::thread& other : others) other.join();
    if (problem) std::rethrow_exception(problem);
  };
}

int allowed_processors(int (*affinity)(pid_t, std::size_t, cpu_set_t*)) {
  constexpr std::size_t most_sets = 1024; // a million processors, more than any system has
  for (std::size_t count = 1; count <= most_sets; count *= 2) {
    std::vector<cpu_set_t> sets(count); // one ends at 1,024 processors
    const std::size_t bytes = count * sizeof(cpu_set_t);
    if (affinity(0, bytes, sets.data()) == 0) return std::max(1, CPU_COUNT_S(bytes, sets.data()));
    if (errno != EINVAL) break; // else the system's set is larger
  }
  return 1;
}

} // namespace kumihimo::mapping_run
