// A library that cuts graphs, as the search calls it.
#pragma once

#include "base/result.hpp"
#include "mapping/search/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::mapping {

class Partitioner {
 public:
  virtual ~Partitioner() = default;
  virtual std::string_view name() const = 0; // "Scotch", "METIS", "greedy"

  // Cuts the graph into two parts, exactly `first` of its vertices in part 0, with few bytes between the parts.
  // pull[v]: bytes between v and what lies outside on the side of part 0, less those on the side of part 1. One entry a
  // vertex: 0 or 1. The same for the same seed. May be called from several threads at once.
  virtual Result<std::vector<char>> halve(const TrafficGraph& graph, std::int32_t first,
                                          std::span<const std::int64_t> pull, std::uint64_t seed) = 0;

  // The library's own map of the graph on the host, where it has one that fits in good time; ranks on a full node are
  // moved to the nearest free slots. Cannot be stopped. strategy: a number below strategies().
  virtual int strategies() const { return 1; }
  virtual std::optional<Assignment> whole_map(const TrafficGraph&, const MappingHost&, int /*strategy*/,
                                              std::uint64_t /*seed*/) {
    return {};
  }
};

} // namespace kumihimo::mapping
