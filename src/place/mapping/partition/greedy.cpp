#include "mapping/partition/greedy.hpp"

#include "mapping/partition/halves.hpp"
#include "mapping/search/tools.hpp"

#include <algorithm>
#include <queue>

namespace kumihimo::mapping {
namespace {

// The last vertex that a breadth-first walk reaches: far from the first.
std::int32_t far_from(const TrafficGraph& graph, std::int32_t start) {
  std::vector<char> seen(static_cast<std::size_t>(graph.ranks()), 0);
  std::vector<std::int32_t> order = {start};
  seen[static_cast<std::size_t>(start)] = 1;
  for (std::size_t at = 0; at < order.size(); ++at)
    for (const TrafficGraph::Edge& edge : graph.of(order[at]))
      if (!std::exchange(seen[static_cast<std::size_t>(edge.to)], 1)) order.push_back(edge.to);
  return order.back();
}

// Part 0 grows from a vertex, always by the one that is drawn to it most.
std::vector<char> grown_from(const Halving& halving, std::int32_t start) {
  const TrafficGraph& graph = halving.graph;
  std::vector<char> part(static_cast<std::size_t>(graph.ranks()), 1);
  std::vector<std::int64_t> drawn(halving.pull.begin(), halving.pull.end());
  for (std::int32_t vertex = 0; vertex < graph.ranks(); ++vertex)
    for (const TrafficGraph::Edge& edge : graph.of(vertex)) drawn[static_cast<std::size_t>(vertex)] -= edge.bytes;
  std::priority_queue<std::pair<std::int64_t, std::int32_t>> queue;
  std::int32_t unseen = 0;
  for (std::int32_t zeros = 0; zeros < halving.first;) {
    std::int32_t vertex = start;
    if (zeros > 0 && !queue.empty()) {
      const auto [value, negative] = queue.top();
      queue.pop();
      vertex = -negative;
      if (value != drawn[static_cast<std::size_t>(vertex)]) continue; // out of date
    } else if (zeros > 0) {
      while (part[static_cast<std::size_t>(unseen)] == 0) ++unseen; // another component
      vertex = unseen;
    }
    if (part[static_cast<std::size_t>(vertex)] == 0) continue;
    part[static_cast<std::size_t>(vertex)] = 0;
    ++zeros;
    for (const TrafficGraph::Edge& edge : graph.of(vertex)) {
      drawn[static_cast<std::size_t>(edge.to)] += 2 * edge.bytes;
      if (part[static_cast<std::size_t>(edge.to)] == 1)
        queue.push({drawn[static_cast<std::size_t>(edge.to)], -edge.to});
    }
  }
  return part;
}

class Greedy final : public Partitioner {
 public:
  std::string_view name() const override { return "greedy"; }

  Result<std::vector<char>> halve(const TrafficGraph& graph, std::int32_t first, std::span<const std::int64_t> pull,
                                  std::uint64_t seed) override {
    const Halving halving{graph, first, pull};
    if (first == 0) return std::vector<char>(static_cast<std::size_t>(graph.ranks()), 1);
    Random random(seed);
    std::vector<char> best;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      const auto any = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(graph.ranks())));
      std::vector<char> part = grown_from(halving, attempt == 0 ? most_drawn(pull) : far_from(graph, any));
      refine(halving, part);
      if (best.empty() || cut_bytes(halving, part) < cut_bytes(halving, best)) best = std::move(part);
    }
    return best;
  }

 private:
  static constexpr int attempts = 4;
  static std::int32_t most_drawn(std::span<const std::int64_t> pull) {
    return static_cast<std::int32_t>(std::max_element(pull.begin(), pull.end()) - pull.begin());
  }
};

} // namespace

std::unique_ptr<Partitioner> greedy_partitioner() { return std::make_unique<Greedy>(); }

} // namespace kumihimo::mapping
