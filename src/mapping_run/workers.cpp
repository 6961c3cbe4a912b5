#include "mapping_run/workers.hpp"

#include <algorithm>
#include <atomic>
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

} // namespace kumihimo::mapping_run
