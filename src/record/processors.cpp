#include "record/processors.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <array>

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

} // namespace kumihimo::record
