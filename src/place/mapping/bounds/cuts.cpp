#include "mapping/bounds/cuts.hpp"

#include "mapping/bounds/near_slots.hpp"
#include "topology/fat_tree.hpp"
#include "topology/router_torus.hpp"
#include "topology/torus.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kumihimo::mapping {
namespace {

class Families {
 public:
  Families(std::int64_t slots, std::int64_t ranks) : slots_(slots), ranks_(ranks) {}

  // An axis by the slots at each of its coordinates.
  void add_axis(const std::vector<std::int64_t>& slots_at, bool is_ring, std::int32_t link_class) {
    const std::size_t length = slots_at.size();
    if (!is_ring) {
      std::int64_t below = 0;
      for (std::size_t at = 0; at + 1 < length; ++at) add({2, 0, slots_, 0, -1, link_class}, below += slots_at[at]);
      return;
    }
    CutFamily arcs{1, 0, slots_, 0, static_cast<std::int64_t>(length / 2) * ranks_, link_class};
    for (std::size_t first = 0; first < length; ++first) {
      std::int64_t inside = 0;
      for (std::size_t step = 0; step < length / 2; ++step) inside += slots_at[(first + step) % length];
      widen(arcs, inside);
    }
    families.push_back(arcs);
  }

  // Groups of consecutive nodes; nodes of different ones are separated by two cuts.
  void add_groups(const Slots& slots, std::int32_t size, std::int32_t halves, std::int32_t link_class) {
    CutFamily groups{halves, 0, slots_, 0, ranks_, link_class};
    for (std::int32_t first = 0; first < slots.nodes(); first += size) {
      std::int64_t inside = 0;
      for (std::int32_t node = first; node < std::min(first + size, slots.nodes()); ++node)
        inside += slots.on(NodeId{node});
      if (inside > 0) widen(groups, inside);
    }
    if (groups.cuts > 1) families.push_back(groups);
  }

  std::vector<CutFamily> families;

 private:
  void widen(CutFamily& family, std::int64_t inside) const {
    ++family.cuts;
    family.fewest = std::min(family.fewest, std::max<std::int64_t>(0, ranks_ - (slots_ - inside)));
    family.most = std::max(family.most, std::min(ranks_, inside));
  }
  void add(CutFamily family, std::int64_t inside) {
    widen(family, inside);
    families.push_back(family);
  }

  std::int64_t slots_, ranks_;
};

std::vector<std::int64_t> slots_by(std::int32_t length, const Slots& slots, const auto& coordinate) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(length), 0);
  for (std::int32_t node = 0; node < slots.nodes(); ++node)
    all[static_cast<std::size_t>(coordinate(node))] += slots.on(NodeId{node});
  return all;
}

void add_router_torus(const RouterTorus& network, const Slots& slots, Families& families) {
  const Shape& shape = network.routers().shape();
  for (std::int32_t axis = 0; axis < shape.dimensions(); ++axis)
    families.add_axis(
        slots_by(shape.length(axis), slots,
                 [&](std::int32_t node) { return shape.coordinate(node / network.nodes_per_router(), axis); }),
        shape.axes()[static_cast<std::size_t>(axis)].is_ring(), axis);
  families.add_groups(slots, 1, 2, shape.dimensions());
}

} // namespace

std::vector<CutFamily> cut_families(const MappingHost& host, std::int64_t ranks) {
  Families families(host.size(), ranks);
  const bool classes_are_axes = dynamic_cast<const Torus*>(host.network.get()) != nullptr;
  if (host.metric.has_axes()) {
    const Shape& shape = host.metric.axes();
    for (std::int32_t axis = 0; axis < shape.dimensions(); ++axis)
      families.add_axis(slots_by(shape.length(axis), host.slots,
                                 [&](std::int32_t node) { return host.metric.coordinate(node, axis); }),
                        shape.axes()[static_cast<std::size_t>(axis)].is_ring(), classes_are_axes ? axis : -1);
    return families.families;
  }
  if (const auto* torus = dynamic_cast<const RouterTorus*>(host.network.get())) {
    add_router_torus(*torus, host.slots, families);
    return families.families;
  }
  const std::vector<GroupHops> groups = group_hops(*host.network);
  for (std::size_t level = 0; level < groups.size(); ++level) {
    const std::int32_t hops = groups[level].hops - (level > 0 ? groups[level - 1].hops : 0);
    if (hops > 0) families.add_groups(host.slots, groups[level].group, hops, -1);
  }
  return families.families;
}

double fewest_bytes(const CutFamily& family, double flow, std::int64_t ranks, std::int64_t unit) {
  const auto bytes = [&](std::int64_t inside) {
    return flow * static_cast<double>(inside) * static_cast<double>(ranks - inside);
  };
  const auto cuts = static_cast<double>(family.cuts);
  if (family.fewest == family.most)
    return cuts * std::ceil(bytes(family.fewest) / static_cast<double>(unit)) * static_cast<double>(unit);
  if (family.ranks_in_all < 0) return cuts * std::min(bytes(family.fewest), bytes(family.most));
  // Concave: above the chord between its ends, at the mean.
  const double mean = static_cast<double>(family.ranks_in_all) / cuts;
  const double share = (mean - static_cast<double>(family.fewest)) / static_cast<double>(family.most - family.fewest);
  return cuts * (bytes(family.fewest) * (1 - share) + bytes(family.most) * share);
}

double fewest_hop_bytes(const std::vector<CutFamily>& families, double flow, std::int64_t ranks, std::int64_t unit) {
  double sum = 0;
  for (const CutFamily& family : families) sum += fewest_bytes(family, flow, ranks, unit) * family.halves / 2;
  return sum;
}

} // namespace kumihimo::mapping
