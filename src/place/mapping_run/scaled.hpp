// A graph in the form that both libraries take: arrays of 32-bit integers.
#pragma once

#include "mapping/objective/graph.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace kumihimo::mapping_run {

struct ScaledGraph {
  std::vector<std::int32_t> first, to, weights;

  // Weights are bytes over their common divisor, halved until all edges together are at most `most`; at least 1 each.
  ScaledGraph(const mapping::TrafficGraph& graph, std::int64_t most) {
    std::int64_t sum = 0;
    for (const mapping::TrafficGraph::Edge& edge : graph.edges)
      divisor_ = std::gcd(divisor_, edge.bytes), sum += edge.bytes;
    if (divisor_ == 0) divisor_ = 1;
    sum /= divisor_;
    while ((sum >> shift_) > most) ++shift_;
    first.assign(1, 0);
    for (std::int32_t vertex = 0; vertex < graph.ranks(); ++vertex) {
      for (const mapping::TrafficGraph::Edge& edge : graph.of(vertex))
        to.push_back(edge.to), weights.push_back(scaled(edge.bytes));
      first.push_back(static_cast<std::int32_t>(to.size()));
    }
  }
  std::int32_t scaled(std::int64_t bytes) const {
    return static_cast<std::int32_t>(std::max<std::int64_t>(1, bytes / divisor_ >> shift_));
  }

 private:
  std::int64_t divisor_ = 0;
  int shift_ = 0;
};

} // namespace kumihimo::mapping_run
