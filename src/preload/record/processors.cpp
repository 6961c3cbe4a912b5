#include "record/processors.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace kumihimo::record {

std::string allowed_processors() {
  std::array<cpu_set_t, 8> allowed{}; // 8192 processors
  if (sched_getaffinity(0, sizeof allowed, allowed.data()) != 0) return {};
  const std::size_t most = 8 * sizeof allowed;
  const auto has = [&](std::size_t processor) {
    return processor < most && CPU_ISSET_S(processor, sizeof allowed, allowed.data());
  };
  std::string list;
  for (std::size_t first = 0; first < most; ++first) {
    if (!has(first)) continue;
    std::size_t last = first;
    while (has(last + 1)) ++last;
    list += fmt::format("{}{}", list.empty() ? "" : ",", first);
    if (last > first) list += fmt::format("-{}", last);
    first = last;
  }
  return list;
}

bool shares_processors() {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) // of Open MPI's launcher, of Hydra
    if (const char* const ranks = std::getenv(name)) return std::atoll(ranks) > sysconf(_SC_NPROCESSORS_ONLN);
  return false;
}

std::int64_t processor_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

} // namespace kumihimo::record
