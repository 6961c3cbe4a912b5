#include "mapping/bounds/exhaustive.hpp"

#include "mapping/bounds/near_slots.hpp"
#include "topology/torus.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace kumihimo::mapping {
namespace {

template <class Hops>
class MapTrial {
 public:
  MapTrial(const TrafficGraph& graph, const MappingHost& host, std::int64_t terms, const Tools& tools, const Hops& hops)
      : graph_(graph), terms_(terms), tools_(tools), hops_(hops) {
    bool several = false;
    for (std::int32_t node = 0; node < host.slots.nodes(); ++node)
      if (const std::int32_t slots = host.slots.on(NodeId{node}); slots > 0) {
        nodes_.push_back(node);
        free_.push_back(slots);
        several = several || slots > 1;
      }
    least_hops_ = several ? 0 : 1;
    any_node_is_alike_ = is_torus(host);
    node_of_.assign(static_cast<std::size_t>(graph.ranks()), -1);
    put_in_order();
  }

  std::optional<std::int64_t> fewest() {
    place(0, 0, graph_.bytes());
    if (terms_ <= 0) return {};
    return best_;
  }

 private:
  static bool is_torus(const MappingHost& host) {
    const auto* torus = dynamic_cast<const Torus*>(host.network.get());
    if (torus == nullptr || !host.slots.are_even()) return false;
    const std::vector<Axis>& axes = torus->shape().axes();
    return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.is_ring() || axis.length <= 2; });
  }

  // Next comes the rank with most bytes to those before it.
  void put_in_order() {
    std::vector<std::int64_t> bytes(node_of_.size(), 0);
    while (order_.size() < bytes.size()) {
      std::int32_t next = -1;
      for (std::int32_t rank = 0; rank < graph_.ranks(); ++rank)
        if (bytes[static_cast<std::size_t>(rank)] >= 0 &&
            (next < 0 || bytes[static_cast<std::size_t>(rank)] > bytes[static_cast<std::size_t>(next)]))
          next = rank;
      order_.push_back(next);
      bytes[static_cast<std::size_t>(next)] = -1;
      for (const TrafficGraph::Edge& edge : graph_.of(next))
        if (bytes[static_cast<std::size_t>(edge.to)] >= 0) bytes[static_cast<std::size_t>(edge.to)] += edge.bytes;
    }
  }

  // so_far: hop-bytes between placed ranks; bytes: of all other edges.
  void place(std::size_t index, std::int64_t so_far, std::int64_t bytes) {
    if (so_far + bytes * least_hops_ >= best_ || terms_ <= 0) return;
    if (index == order_.size()) {
      best_ = so_far;
      return;
    }
    const std::int32_t rank = order_[index];
    const std::size_t nodes = index == 0 && any_node_is_alike_ ? 1 : nodes_.size();
    for (std::size_t node = 0; node < nodes; ++node) {
      if (free_[node] == 0) continue;
      terms_ = tools_.stop() ? 0 : terms_ - 1 - static_cast<std::int64_t>(graph_.degree(rank));
      std::int64_t added = 0, placed = 0;
      for (const TrafficGraph::Edge& edge : graph_.of(rank))
        if (const std::int32_t other = node_of_[static_cast<std::size_t>(edge.to)]; other >= 0) {
          placed += edge.bytes;
          if (other != nodes_[node]) added += edge.bytes * hops_(nodes_[node], other);
        }
      --free_[node];
      node_of_[static_cast<std::size_t>(rank)] = nodes_[node];
      place(index + 1, so_far + added, bytes - placed);
      node_of_[static_cast<std::size_t>(rank)] = -1;
      ++free_[node];
    }
  }

  const TrafficGraph& graph_;
  std::int64_t terms_;
  const Tools& tools_;
  const Hops& hops_;
  std::vector<std::int32_t> nodes_, free_; // with slots; free ones of each
  std::vector<std::int32_t> node_of_;      // of each rank; -1: not placed
  std::vector<std::int32_t> order_;
  std::int32_t least_hops_ = 0;
  bool any_node_is_alike_ = false;
  std::int64_t best_ = std::numeric_limits<std::int64_t>::max();
};

} // namespace

std::optional<std::int64_t> fewest_by_trying(const TrafficGraph& graph, const MappingHost& host, std::int64_t terms,
                                             const Tools& tools) {
  return visit_least_hops(host, [&](const auto& hops) { return MapTrial(graph, host, terms, tools, hops).fewest(); });
}

} // namespace kumihimo::mapping
