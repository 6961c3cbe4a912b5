// The hop-bytes of one rank on any node, while all others stay where they are.
#pragma once

#include "mapping/objective/assignment.hpp"
#include "mapping/objective/graph.hpp"
#include "mapping/objective/host.hpp"

#include <array>
#include <vector>

namespace kumihimo::mapping {

// Where distances are sums over axes, so are the costs: a table of each rank with an entry for each coordinate. A cost
// is a sum of `axes` entries, whatever the degree; a move changes the tables of the rank's partners. 8 bytes per rank
// and coordinate.
template <int axes>
class AxisCosts {
 public:
  AxisCosts(const TrafficGraph& graph, const MappingHost& host, const Assignment& map) : graph_(&graph), host_(&host) {
    const Metric& metric = host.metric;
    std::array<std::int32_t, axes> start;
    for (std::int32_t axis = 0; axis < axes; ++axis) {
      start[static_cast<std::size_t>(axis)] = width_;
      width_ += length(axis);
    }
    columns_.resize(static_cast<std::size_t>(metric.nodes()));
    for (std::int32_t node = 0; node < metric.nodes(); ++node)
      for (std::int32_t axis = 0; axis < axes; ++axis)
        columns_[static_cast<std::size_t>(node)][static_cast<std::size_t>(axis)] =
            start[static_cast<std::size_t>(axis)] + metric.coordinate(node, axis);
    costs_.assign(static_cast<std::size_t>(graph.ranks()) * static_cast<std::size_t>(width_), 0);
    for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) {
      std::int64_t* row = costs_.data() + row_of(rank);
      for (const TrafficGraph::Edge& edge : graph.of(rank)) {
        const std::int32_t partner = host.node(map.slot(edge.to));
        for (std::int32_t axis = 0; axis < axes; ++axis)
          for (std::int32_t at = 0; at < length(axis); ++at)
            row[start[static_cast<std::size_t>(axis)] + at] +=
                edge.bytes * metric.along(axis, metric.coordinate(partner, axis), at);
      }
    }
  }

  std::int64_t of(std::int32_t rank, std::int32_t node) const {
    const std::int64_t* row = costs_.data() + row_of(rank);
    std::int64_t sum = 0;
    for (const std::int32_t column : columns_[static_cast<std::size_t>(node)]) sum += row[column];
    return sum;
  }

  void prefetch(std::int32_t rank, std::int32_t from, std::int32_t to) const {
    const std::int64_t* row = costs_.data() + row_of(rank);
    for (const std::int32_t column : columns_[static_cast<std::size_t>(from)]) __builtin_prefetch(row + column);
    for (const std::int32_t column : columns_[static_cast<std::size_t>(to)]) __builtin_prefetch(row + column);
  }

  // After the rank has gone from one node to another.
  void moved(std::int32_t rank, std::int32_t from, std::int32_t to) {
    const Metric& metric = host_->metric;
    std::int32_t start = 0;
    for (std::int32_t axis = 0; axis < axes; start += length(axis), ++axis) {
      const std::int32_t before = metric.coordinate(from, axis), after = metric.coordinate(to, axis);
      if (before == after) continue;
      added_.resize(static_cast<std::size_t>(length(axis)));
      for (std::int32_t at = 0; at < length(axis); ++at)
        added_[static_cast<std::size_t>(at)] = metric.along(axis, after, at) - metric.along(axis, before, at);
      for (const TrafficGraph::Edge& edge : graph_->of(rank)) {
        std::int64_t* row = costs_.data() + row_of(edge.to) + start;
        for (std::size_t at = 0; at < added_.size(); ++at) row[at] += edge.bytes * added_[at];
      }
    }
  }

  static constexpr std::int64_t terms_of_cost(std::size_t) { return 1; }
  std::int64_t terms_of_move(std::size_t degree, std::int32_t from, std::int32_t to) const {
    std::int32_t changed = 0;
    for (std::int32_t axis = 0; axis < axes; ++axis)
      if (host_->metric.coordinate(from, axis) != host_->metric.coordinate(to, axis)) changed += length(axis);
    return static_cast<std::int64_t>(degree) * changed / 16;
  }

 private:
  std::int32_t length(std::int32_t axis) const {
    return host_->metric.axes().axes()[static_cast<std::size_t>(axis)].length;
  }
  std::size_t row_of(std::int32_t rank) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(width_);
  }

  const TrafficGraph* graph_;
  const MappingHost* host_;
  std::int32_t width_ = 0;                              // of a row: all axes
  std::vector<std::array<std::int32_t, axes>> columns_; // of each node's coordinates in a row
  std::vector<std::int64_t> costs_;                     // rows by rank
  std::vector<std::int64_t> added_;
};

// For all other distances: a cost is a sum over the rank's partners.
template <class Hops>
class PartnerCosts {
 public:
  PartnerCosts(const TrafficGraph& graph, const MappingHost& host, const Assignment& map, const Hops& hops)
      : graph_(&graph), hops_(hops) {
    node_of_rank_.reserve(static_cast<std::size_t>(graph.ranks()));
    for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) node_of_rank_.push_back(host.node(map.slot(rank)));
  }

  std::int64_t of(std::int32_t rank, std::int32_t node) const {
    std::int64_t sum = 0;
    for (const TrafficGraph::Edge& edge : graph_->of(rank))
      sum += edge.bytes * hops_(node, node_of_rank_[static_cast<std::size_t>(edge.to)]);
    return sum;
  }

  void prefetch(std::int32_t, std::int32_t, std::int32_t) const {}

  void moved(std::int32_t rank, std::int32_t, std::int32_t to) { node_of_rank_[static_cast<std::size_t>(rank)] = to; }

  static constexpr std::int64_t terms_of_cost(std::size_t degree) { return static_cast<std::int64_t>(degree); }
  static constexpr std::int64_t terms_of_move(std::size_t, std::int32_t, std::int32_t) { return 0; }

 private:
  const TrafficGraph* graph_;
  Hops hops_;
  std::vector<std::int32_t> node_of_rank_;
};

} // namespace kumihimo::mapping
