#include "lu/node_processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kumihimo::lu {

Result<std::vector<NodeProcesses>> processes_of_nodes(std::span<const double> peaks,
                                                      std::span<const std::int32_t> cores, double tolerance) {
  if (peaks.empty()) return wrong_value("the rule of unequal nodes needs at least one node", 0);
  if (peaks.size() != cores.size())
    return wrong_value(fmt::format("there must be the cores of {} nodes", peaks.size()), cores.size());
  for (std::size_t node = 0; node < peaks.size(); ++node) {
    if (!(peaks[node] > 0)) return wrong_value("the speed of a node must be above 0", fmt::format("{:g}", peaks[node]));
    if (cores[node] < 1) return wrong_value("a node must have at least 1 core", cores[node]);
  }
  const double slowest = *std::min_element(peaks.begin(), peaks.end());
  std::vector<NodeProcesses> found;
  for (std::size_t node = 0; node < peaks.size(); ++node) {
    NodeProcesses each{.ratio = peaks[node] / slowest, .processes = cores[node]};
    for (std::int32_t divisor = cores[node]; divisor >= 1; --divisor)
      if (cores[node] % divisor == 0 && divisor * (1 + tolerance) >= each.ratio) each.processes = divisor;
    each.beta = each.processes - each.ratio;
    found.push_back(each);
  }
  return found;
}

std::string described(std::span<const double> peaks, std::span<const std::int32_t> cores,
                      std::span<const NodeProcesses> found) {
  const double slowest = *std::min_element(peaks.begin(), peaks.end());
  std::string text;
  for (std::size_t first = 0; first < peaks.size();) {
    std::size_t end = first + 1;
    while (end < peaks.size() && peaks[end] == peaks[first] && cores[end] == cores[first]) ++end;
    const NodeProcesses& each = found[first];
    text +=
        fmt::format("{}{}: {:.4g}/{:.4g} = {:.2f} {} {:.2f} = {} process{} of {} core{}", text.empty() ? "" : "; ",
                    end == first + 1 ? fmt::format("node {}", first + 1) : fmt::format("nodes {}-{}", first + 1, end),
                    peaks[first], slowest, each.ratio, each.beta < 0 ? '-' : '+', std::abs(each.beta), each.processes,
                    each.processes > 1 ? "es" : "", cores[first], cores[first] > 1 ? "s" : "");
    first = end;
  }
  return text;
}

std::pair<std::int32_t, std::int32_t> usual_grid(std::int32_t processes) {
  std::int32_t p = 1;
  for (std::int32_t each = 1; each * each <= processes; ++each)
    if (processes % each == 0) p = each;
  return {p, processes / p};
}

} // namespace kumihimo::lu
