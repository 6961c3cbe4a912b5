#include "mapping/objective/host.hpp"

#include <fmt/format.h>

namespace kumihimo::mapping {

Result<Host> Host::make(TopologyPtr network, Slots slots) {
  if (slots.nodes() != network->nodes())
    return wrong_value(fmt::format("slots must be given for the {} nodes of {}", network->nodes(), network->name()),
                       slots.nodes());
  Metric metric = Metric::of(*network, slots);
  std::vector<std::int32_t> node_of_slot;
  node_of_slot.reserve(static_cast<std::size_t>(slots.size()));
  for (std::int32_t node = 0; node < slots.nodes(); ++node)
    node_of_slot.insert(node_of_slot.end(), static_cast<std::size_t>(slots.on(NodeId{node})), node);
  return Host{std::move(network), std::move(slots), std::move(metric), std::move(node_of_slot)};
}

} // namespace kumihimo::mapping
