#include "mapping/bounds/parity.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace kumihimo::mapping {
namespace {

// Undirected edges with the bytes that no cycle has yet.
class Packing {
 public:
  Packing(const TrafficGraph& graph, std::int64_t terms, const Tools& tools)
      : graph_(graph), terms_(terms), tools_(tools) {
    edge_.resize(graph.edges.size());
    std::vector<std::int64_t> next(graph.first.begin(), graph.first.end() - 1);
    for (std::int32_t rank = 0; rank < graph.ranks(); ++rank)
      for (std::size_t at = begin(rank); at < begin(rank + 1); ++at) {
        const TrafficGraph::Edge& edge = graph.edges[at];
        // Edges ascend, so those of a rank to lower ones come in the order in which these ranks were passed.
        const auto mirror = static_cast<std::size_t>(next[static_cast<std::size_t>(edge.to)]++);
        if (edge.to > rank) continue;
        edge_[at] = edge_[mirror] = static_cast<std::int32_t>(left_.size());
        left_.push_back(edge.bytes);
      }
  }

  void pack_triangles() {
    find_upward();
    std::vector<std::int64_t> count(left_.size());
    bool gained = true;
    for (int round = 0; gained && round < most_rounds; ++round) {
      std::fill(count.begin(), count.end(), 0);
      const std::int64_t before = extra_;
      each_triangle([&](std::size_t a, std::size_t b, std::size_t c) {
        if (left_[a] > 0 && left_[b] > 0 && left_[c] > 0) ++count[a], ++count[b], ++count[c];
      });
      const std::vector<std::int64_t> at_start = left_;
      each_triangle([&](std::size_t a, std::size_t b, std::size_t c) {
        // A round that ran out of terms counted too few: never more than is left.
        std::int64_t bytes = std::min({left_[a], left_[b], left_[c]});
        for (const std::size_t edge : {a, b, c})
          bytes = std::min(bytes, at_start[edge] / std::max<std::int64_t>(1, count[edge]));
        take({a, b, c}, bytes);
      });
      gained = extra_ - before > extra_ / 1000 && terms_ > 0 && !tools_.stop();
    }
    each_triangle([&](std::size_t a, std::size_t b, std::size_t c) {
      take({a, b, c}, std::min({left_[a], left_[b], left_[c]}));
    });
  }

  // The shortest odd cycle near each rank, as long as it has one.
  void pack_longer() {
    level_.assign(static_cast<std::size_t>(graph_.ranks()), -1);
    above_.assign(level_.size(), {-1, 0});
    done_.assign(level_.size(), 0);
    for (std::int32_t rank = 0; rank < graph_.ranks() && terms_ > 0 && !tools_.stop(); ++rank)
      while (terms_ > 0 && !done_[static_cast<std::size_t>(rank)] && take_cycle_near(rank)) {
      }
  }

  CyclePacking packing() const {
    CyclePacking packing{TrafficGraph{}, hop_bytes_, extra_};
    packing.rest.first.assign(1, 0);
    for (std::int32_t rank = 0; rank < graph_.ranks(); ++rank) {
      for (std::size_t at = begin(rank); at < begin(rank + 1); ++at)
        if (const std::int64_t bytes = left_[id(at)]; bytes > 0)
          packing.rest.edges.push_back({graph_.edges[at].to, bytes});
      packing.rest.first.push_back(static_cast<std::int64_t>(packing.rest.edges.size()));
    }
    return packing;
  }

 private:
  std::size_t begin(std::int32_t rank) const {
    return static_cast<std::size_t>(graph_.first[static_cast<std::size_t>(rank)]);
  }
  std::size_t id(std::size_t at) const { return static_cast<std::size_t>(edge_[at]); }

  template <class Edges>
  void take_all(const Edges& edges, std::int64_t bytes) {
    std::int64_t length = 0;
    for (const std::size_t edge : edges) left_[edge] -= bytes, ++length;
    hop_bytes_ += bytes * (length + 1);
    extra_ += bytes;
  }
  void take(const std::array<std::size_t, 3>& edges, std::int64_t bytes) { take_all(edges, bytes); }

  // Each edge from the end with fewer edges to the one with more, so that no rank has many that leave it.
  void find_upward() {
    const auto before = [&](std::int32_t a, std::int32_t b) {
      return graph_.degree(a) != graph_.degree(b) ? graph_.degree(a) < graph_.degree(b) : a < b;
    };
    up_first_.assign(1, 0);
    for (std::int32_t rank = 0; rank < graph_.ranks(); ++rank) {
      for (std::size_t at = begin(rank); at < begin(rank + 1); ++at)
        if (before(rank, graph_.edges[at].to)) up_.push_back({graph_.edges[at].to, id(at)});
      up_first_.push_back(up_.size());
    }
    edge_to_.assign(static_cast<std::size_t>(graph_.ranks()), none);
  }

  template <class Work>
  void each_triangle(const Work& work) {
    for (std::size_t rank = 0; rank + 1 < up_first_.size() && terms_ > 0; ++rank) {
      for (std::size_t at = up_first_[rank]; at < up_first_[rank + 1]; ++at)
        edge_to_[static_cast<std::size_t>(up_[at].first)] = up_[at].second;
      for (std::size_t at = up_first_[rank]; at < up_first_[rank + 1]; ++at) {
        const auto partner = static_cast<std::size_t>(up_[at].first);
        terms_ -= static_cast<std::int64_t>(up_first_[partner + 1] - up_first_[partner]) + 1;
        for (std::size_t third = up_first_[partner]; third < up_first_[partner + 1]; ++third)
          if (const std::size_t closing = edge_to_[static_cast<std::size_t>(up_[third].first)]; closing != none)
            work(up_[at].second, up_[third].second, closing);
      }
      for (std::size_t at = up_first_[rank]; at < up_first_[rank + 1]; ++at)
        edge_to_[static_cast<std::size_t>(up_[at].first)] = none;
    }
  }

  bool take_cycle_near(std::int32_t root) {
    queue_.assign(1, root);
    level_[static_cast<std::size_t>(root)] = 0;
    bool found = false;
    for (std::size_t at = 0; at < queue_.size() && !found; ++at) {
      const std::int32_t rank = queue_[at];
      for (std::size_t edge = begin(rank); edge < begin(rank + 1) && !found; ++edge) {
        --terms_;
        if (left_[id(edge)] == 0) continue;
        const std::int32_t partner = graph_.edges[edge].to;
        std::int32_t& level = level_[static_cast<std::size_t>(partner)];
        if (level < 0) {
          level = level_[static_cast<std::size_t>(rank)] + 1;
          above_[static_cast<std::size_t>(partner)] = {rank, id(edge)};
          queue_.push_back(partner);
        } else if (level == level_[static_cast<std::size_t>(rank)]) {
          close_cycle(rank, partner, id(edge));
          found = true;
        }
      }
    }
    for (const std::int32_t rank : queue_) {
      level_[static_cast<std::size_t>(rank)] = -1;
      if (!found) done_[static_cast<std::size_t>(rank)] = 1; // all ranks that can be reached: no odd cycle is left
    }
    return found;
  }

  // Both are as far from the root: up from either until they meet.
  void close_cycle(std::int32_t one, std::int32_t two, std::size_t edge) {
    cycle_.assign(1, edge);
    while (one != two) {
      for (std::int32_t* end : {&one, &two}) {
        const auto [rank, up] = above_[static_cast<std::size_t>(*end)];
        cycle_.push_back(up);
        *end = rank;
      }
    }
    std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
    for (const std::size_t e : cycle_) bytes = std::min(bytes, left_[e]);
    take_all(cycle_, bytes);
  }

  static constexpr int most_rounds = 16;
  static constexpr std::size_t none = ~std::size_t{0};
  const TrafficGraph& graph_;
  std::int64_t terms_;
  const Tools& tools_;
  std::vector<std::int32_t> edge_; // of each entry of graph_.edges
  std::vector<std::int64_t> left_; // of each edge: bytes
  std::int64_t hop_bytes_ = 0, extra_ = 0;
  std::vector<std::pair<std::int32_t, std::size_t>> up_; // other end, edge
  std::vector<std::size_t> up_first_, edge_to_;
  std::vector<std::int32_t> level_, queue_;
  std::vector<char> done_;
  std::vector<std::pair<std::int32_t, std::size_t>> above_; // towards the root: rank, edge
  std::vector<std::size_t> cycle_;
};

} // namespace

bool is_bipartite(const MappingHost& host) {
  if (!host.metric.has_axes()) return false;
  for (const Axis& axis : host.metric.axes().axes())
    if (axis.is_ring() && axis.length % 2 != 0) return false;
  for (std::int32_t node = 0; node < host.slots.nodes(); ++node)
    if (host.slots.on(NodeId{node}) > 1) return false;
  return true;
}

CyclePacking pack_odd_cycles(const TrafficGraph& graph, std::int64_t terms, const Tools& tools) {
  Packing packing(graph, terms, tools);
  packing.pack_triangles();
  packing.pack_longer();
  return packing.packing();
}

} // namespace kumihimo::mapping
