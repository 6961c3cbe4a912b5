#include "application/node_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

namespace kumihimo::application {
namespace {

// Bytes, as Linux says; nothing elsewhere.
std::optional<double> free_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name, unit; file >> name;) {
    double kibibytes = 0;
    if (!(file >> kibibytes)) return {};
    std::getline(file, unit);
    if (name == "MemAvailable:") return 1024 * kibibytes;
  }
  return {};
}

} // namespace

Status check_node_memory(const Processes& processes, double bytes_of_rank, std::string_view what, std::string advice) {
  const std::vector<std::int64_t> node = processes.node_of_rank();
  const std::int64_t own = node[static_cast<std::size_t>(processes.rank())];
  const double needed = bytes_of_rank * static_cast<double>(std::ranges::count(node, own));
  const std::optional<double> free = free_memory();
  if (!free || needed <= *free) return Nothing{};
  constexpr double gib = 1 << 30;
  return failed(fmt::format("{} at least {:.1f} GiB of a node's memory, and {:.1f} GiB are free", what, needed / gib,
                            *free / gib),
                {}, std::move(advice));
}

} // namespace kumihimo::application
