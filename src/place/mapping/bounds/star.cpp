#include "mapping/bounds/star.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace kumihimo::mapping {
namespace {

// The shares of all edge ends, in half bytes, and the hops that each end would give its edge.
class Shares {
 public:
  Shares(const TrafficGraph& graph, std::span<const std::int64_t> within) : graph_(graph), within_(within) {
    for (const TrafficGraph::Edge& edge : graph.edges) share_.push_back(edge.bytes);
    hops_.resize(share_.size());
  }

  // The bound of these shares, in half hop-bytes; fills in hops_.
  std::int64_t value() {
    std::int64_t sum = 0;
    for (std::int32_t rank = 0; rank < graph_.ranks(); ++rank) {
      const auto first = static_cast<std::size_t>(graph_.first[static_cast<std::size_t>(rank)]);
      order_.resize(graph_.degree(rank));
      std::iota(order_.begin(), order_.end(), first);
      std::sort(order_.begin(), order_.end(),
                [&](std::size_t a, std::size_t b) { return share_[a] != share_[b] ? share_[a] > share_[b] : a < b; });
      std::size_t hops = 0;
      for (std::size_t at = 0; at < order_.size(); ++at) {
        while (within_[hops] <= static_cast<std::int64_t>(at)) ++hops;
        hops_[order_[at]] = static_cast<std::int32_t>(hops);
        sum += share_[order_[at]] * static_cast<std::int64_t>(hops);
      }
    }
    return sum;
  }

  // Both ends of each edge want it at the same distance: no division is better.
  bool agree() {
    if (mirror_.empty()) find_mirrors();
    for (std::size_t end = 0; end < hops_.size(); ++end)
      if (hops_[end] != hops_[mirror_[end]]) return false;
    return true;
  }

  // Bytes move to the end that gives the edge more hops.
  void shift(double step) {
    for (std::size_t end = 0; end < share_.size(); ++end) {
      const std::size_t other = mirror_[end];
      if (hops_[end] <= hops_[other]) continue;
      const double wish = step * static_cast<double>(graph_.edges[end].bytes) * (hops_[end] - hops_[other]);
      const std::int64_t moved =
          wish < static_cast<double>(share_[other]) ? static_cast<std::int64_t>(wish) : share_[other];
      share_[end] += moved;
      share_[other] -= moved;
    }
  }

 private:
  void find_mirrors() {
    std::vector<std::int64_t> next(graph_.first.begin(), graph_.first.end() - 1);
    for (std::int32_t rank = 0; rank < graph_.ranks(); ++rank) // each rank's edges ascend: mirrors come in order
      for (const TrafficGraph::Edge& edge : graph_.of(rank))
        mirror_.push_back(static_cast<std::size_t>(next[static_cast<std::size_t>(edge.to)]++));
  }

  const TrafficGraph& graph_;
  std::span<const std::int64_t> within_;
  std::vector<std::int64_t> share_;
  std::vector<std::int32_t> hops_;
  std::vector<std::size_t> mirror_, order_;
};

} // namespace

std::int64_t star_bound(const TrafficGraph& graph, std::span<const std::int64_t> within, int rounds,
                        const Tools& tools) {
  Shares shares(graph, within);
  std::int64_t best = shares.value();
  if (rounds > 0 && shares.agree()) return best / 2 + best % 2;
  for (int round = 1; round <= rounds && !tools.stop(); ++round) {
    shares.shift(0.5 / (round + 4));
    best = std::max(best, shares.value());
  }
  return best / 2 + best % 2;
}

} // namespace kumihimo::mapping
