#include "mapping/partition/within_node.hpp"

#include "mapping/partition/greedy.hpp"

#include <algorithm>

namespace kumihimo::mapping {
namespace {

// The ranks of one node, numbered by their place, on its taken slots.
class RanksOfNode {
 public:
  RanksOfNode(TrafficGraph graph, std::vector<std::int32_t> numbers, std::span<const Level> levels, std::uint64_t seed)
      : graph_(std::move(graph)), numbers_(std::move(numbers)), levels_(levels), random_(seed) {}

  // Which rank gets which place: of as they are and as they are bisected, each improved, the better.
  std::vector<std::int32_t> best_places() {
    std::vector<std::int32_t> as_is(numbers_.size()), bisected(numbers_.size());
    for (std::size_t rank = 0; rank < as_is.size(); ++rank) as_is[rank] = static_cast<std::int32_t>(rank);
    arrange(as_is, 0, 0, bisected);
    improve(as_is);
    improve(bisected);
    return bytes_across(bisected) < bytes_across(as_is) ? bisected : as_is;
  }

 private:
  using Bytes = std::vector<std::int64_t>; // by level, compared in this order

  bool cross(std::size_t level, std::int32_t place, std::int32_t other) const {
    return group(level, place) != group(level, other);
  }
  std::int32_t group(std::size_t level, std::int32_t place) const {
    return numbers_[static_cast<std::size_t>(place)] / std::max(1, levels_[level].size);
  }

  // Gives the ranks the places from `place` on: group by group of the level, each cut from what is left.
  void arrange(std::vector<std::int32_t> ranks, std::int32_t place, std::size_t level,
               std::vector<std::int32_t>& place_of_rank) {
    if (level == levels_.size()) {
      for (const std::int32_t rank : ranks) place_of_rank[static_cast<std::size_t>(rank)] = place++;
      return;
    }
    while (!ranks.empty()) {
      const auto left = static_cast<std::int32_t>(ranks.size());
      std::int32_t size = 1;
      while (size < left && !cross(level, place, place + size)) ++size;
      std::vector<std::int32_t> own, rest;
      const std::vector<std::int64_t> no_pull(ranks.size(), 0);
      const std::vector<char> part = greedy_->halve(graph_.part(ranks), size, no_pull, random_.next()).value();
      for (std::size_t at = 0; at < ranks.size(); ++at) (part[at] == 0 ? own : rest).push_back(ranks[at]);
      arrange(std::move(own), place, level + 1, place_of_rank);
      ranks = std::move(rest);
      place += size;
    }
  }

  // Exchanges two ranks while that lowers the bytes.
  void improve(std::vector<std::int32_t>& place_of_rank) const {
    const auto ranks = static_cast<std::int32_t>(place_of_rank.size());
    Bytes added(levels_.size());
    for (bool gained = true; gained;) {
      gained = false;
      for (std::int32_t rank = 0; rank < ranks; ++rank)
        for (std::int32_t other = rank + 1; other < ranks; ++other) {
          std::int32_t& place = place_of_rank[static_cast<std::size_t>(rank)];
          std::int32_t& others = place_of_rank[static_cast<std::size_t>(other)];
          std::fill(added.begin(), added.end(), 0);
          add_change(place_of_rank, rank, others, other, added);
          add_change(place_of_rank, other, place, rank, added);
          if (!is_less(added)) continue;
          std::swap(place, others);
          gained = true;
        }
    }
  }

  static bool is_less(const Bytes& added) {
    for (const std::int64_t bytes : added)
      if (bytes != 0) return bytes < 0;
    return false;
  }

  // Adds the bytes that cross each level when the rank moves, of all its edges but that to `except`.
  void add_change(const std::vector<std::int32_t>& place_of_rank, std::int32_t rank, std::int32_t to,
                  std::int32_t except, Bytes& added) const {
    const std::int32_t from = place_of_rank[static_cast<std::size_t>(rank)];
    for (const TrafficGraph::Edge& edge : graph_.of(rank)) {
      if (edge.to == except) continue;
      const std::int32_t partner = place_of_rank[static_cast<std::size_t>(edge.to)];
      for (std::size_t level = 0; level < levels_.size(); ++level)
        added[level] += edge.bytes * (cross(level, to, partner) - cross(level, from, partner));
    }
  }

  Bytes bytes_across(const std::vector<std::int32_t>& place_of_rank) const {
    Bytes bytes(levels_.size(), 0);
    for (std::int32_t rank = 0; rank < graph_.ranks(); ++rank)
      for (const TrafficGraph::Edge& edge : graph_.of(rank))
        for (std::size_t level = 0; level < levels_.size(); ++level)
          if (edge.to > rank && cross(level, place_of_rank[static_cast<std::size_t>(rank)],
                                      place_of_rank[static_cast<std::size_t>(edge.to)]))
            bytes[level] += edge.bytes;
    return bytes;
  }

  TrafficGraph graph_;
  std::vector<std::int32_t> numbers_; // of the taken slots, ascending
  std::span<const Level> levels_;
  Random random_;
  std::unique_ptr<Partitioner> greedy_ = greedy_partitioner();
};

// The graph within each node: ranks numbered by their place among the node's ranks, which are in order of slots.
struct NodeOfRanks {
  std::vector<std::int32_t> ranks, numbers;
  TrafficGraph graph;
};

std::vector<NodeOfRanks> by_node(const TrafficGraph& graph, const MappingHost& host, const Assignment& map) {
  std::vector<NodeOfRanks> nodes;
  std::vector<std::int32_t> place(static_cast<std::size_t>(graph.ranks()));
  for (std::int32_t slot = 0, node = -1; slot < host.size(); ++slot) {
    const std::int32_t rank = map.rank_in(slot);
    if (rank < 0) continue;
    if (host.node(slot) != node) nodes.emplace_back(), node = host.node(slot);
    place[static_cast<std::size_t>(rank)] = static_cast<std::int32_t>(nodes.back().ranks.size());
    nodes.back().ranks.push_back(rank);
    nodes.back().numbers.push_back(host.slots.at(slot).number);
  }
  for (NodeOfRanks& node : nodes) {
    std::vector<std::pair<std::int32_t, TrafficGraph::Edge>> pairs;
    for (const std::int32_t rank : node.ranks)
      for (const TrafficGraph::Edge& edge : graph.of(rank))
        if (edge.to > rank && host.node(map.slot(edge.to)) == host.node(map.slot(rank)))
          pairs.push_back(
              {place[static_cast<std::size_t>(rank)], {place[static_cast<std::size_t>(edge.to)], edge.bytes}});
    node.graph = TrafficGraph::of_pairs(static_cast<std::int32_t>(node.ranks.size()), pairs);
  }
  return nodes;
}

} // namespace

Assignment place_within_nodes(const TrafficGraph& graph, const MappingHost& host, Assignment start,
                              std::span<const Level> levels, std::uint64_t seed, const Tools& tools) {
  if (levels.empty()) return start;
  std::vector<NodeOfRanks> nodes = by_node(graph, host, start);
  std::vector<std::int32_t> slot_of_rank(start.slot_of_rank().begin(), start.slot_of_rank().end());
  constexpr int parts = 64;
  tools.parallel(parts, [&](int part) {
    for (auto at = static_cast<std::size_t>(part); at < nodes.size() && !tools.stop(); at += parts) {
      NodeOfRanks& node = nodes[at];
      if (node.ranks.size() < 2 || node.graph.edges.empty()) continue;
      RanksOfNode work(std::move(node.graph), node.numbers, levels, seed + at);
      const std::vector<std::int32_t> places = work.best_places();
      for (std::size_t rank = 0; rank < node.ranks.size(); ++rank)
        slot_of_rank[static_cast<std::size_t>(node.ranks[rank])] =
            start.slot(node.ranks[static_cast<std::size_t>(places[rank])]);
    }
  });
  return Assignment::of_slots(std::move(slot_of_rank), host.size());
}

std::vector<std::int64_t> bytes_across(const TrafficGraph& graph, const MappingHost& host, const Assignment& assignment,
                                       std::span<const Level> levels) {
  std::vector<std::int64_t> bytes(levels.size(), 0);
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank)
    for (const TrafficGraph::Edge& edge : graph.of(rank)) {
      const Slot a = host.slots.at(assignment.slot(rank)), b = host.slots.at(assignment.slot(edge.to));
      if (edge.to < rank || a.node != b.node) continue;
      for (std::size_t level = 0; level < levels.size(); ++level)
        if (a.number / std::max(1, levels[level].size) != b.number / std::max(1, levels[level].size))
          bytes[level] += edge.bytes;
    }
  return bytes;
}

} // namespace kumihimo::mapping
