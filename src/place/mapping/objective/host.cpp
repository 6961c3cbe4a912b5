#include "mapping/objective/host.hpp"

#include "topology/fat_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace kumihimo::mapping {

Result<MappingHost> MappingHost::make(TopologyPtr network, Slots slots) {
  if (slots.nodes() != network->nodes())
    return wrong_value(fmt::format("slots must be given for the {} nodes of {}", network->nodes(), network->name()),
                       slots.nodes());
  Metric metric = Metric::of(*network, slots);
  std::vector<std::int32_t> node_of_slot;
  node_of_slot.reserve(static_cast<std::size_t>(slots.size()));
  for (std::int32_t node = 0; node < slots.nodes(); ++node)
    node_of_slot.insert(node_of_slot.end(), static_cast<std::size_t>(slots.on(NodeId{node})), node);
  return MappingHost{std::move(network), std::move(slots), std::move(metric), std::move(node_of_slot)};
}

MappingHost MappingHost::of_cores(std::int32_t cores, std::span<const Level> levels) {
  std::vector<FatTree::Tier> tiers;
  std::int32_t below = 1; // cores of a group of the tier below
  for (std::size_t at = levels.size(); at-- > 0;)
    if (levels[at].size > below && levels[at].size % below == 0 && levels[at].size < cores) {
      tiers.push_back({levels[at].size / below, 1, 1});
      below = levels[at].size;
    }
  tiers.push_back({std::max(1, (cores + below - 1) / below), 1, 1});
  const Result<FatTree> tree = FatTree::make(std::move(tiers), cores);
  assert(tree.ok());
  return *make(std::make_shared<FatTree>(*tree), Slots(cores, 1));
}

} // namespace kumihimo::mapping
