#include "placement/order.hpp"

#include "base/hash.hpp"
#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {
namespace {

std::vector<Slot> round_robin(const Slots& slots) {
  std::vector<Slot> order;
  std::int32_t most = 0;
  for (std::int32_t node = 0; node < slots.nodes(); ++node) most = std::max(most, slots.on(NodeId{node}));
  for (std::int32_t number = 0; number < most; ++number)
    for (std::int32_t node = 0; node < slots.nodes(); ++node)
      if (slots.contains({NodeId{node}, number})) order.push_back({NodeId{node}, number});
  return order;
}

std::vector<Slot> reversed_axes(const Slots& slots, const Shape& nodes) {
  std::vector<Axis> reversed(nodes.axes().rbegin(), nodes.axes().rend());
  const Shape walked(std::move(reversed));
  std::vector<Slot> order;
  for (std::int32_t place = 0; place < walked.places(); ++place) {
    Coordinates c = walked.coordinates(place);
    std::reverse(c.begin(), c.end());
    const NodeId node{nodes.place(c)};
    for (std::int32_t number = 0; number < slots.on(node); ++number) order.push_back({node, number});
  }
  return order;
}

std::vector<Slot> shuffled(const Slots& slots, std::uint64_t seed) {
  std::vector<Slot> order;
  for (std::int32_t i = 0; i < slots.size(); ++i) order.push_back(slots.at(i));
  for (auto left = static_cast<std::uint64_t>(order.size()); left > 1; --left)
    std::swap(order[left - 1], order[mixed(seed, left) % left]);
  return order;
}

} // namespace

Result<Placement> placement_in_order(std::string_view order, const Slots& slots, const Shape& nodes) {
  if (order == "block") return Placement::block(slots);
  if (order == "round-robin") return Placement::make(slots, round_robin(slots));
  if (order == "reversed-axes") {
    if (nodes.dimensions() == 0 || nodes.places() != slots.nodes())
      return not_applicable("the order reversed-axes needs nodes with axes", {}, "take round-robin or random:SEED");
    return Placement::make(slots, reversed_axes(slots, nodes));
  }
  if (constexpr std::string_view random = "random:"; order.starts_with(random)) {
    if (const auto seed = number_in<std::uint64_t>(order.substr(random.size())))
      return Placement::make(slots, shuffled(slots, *seed));
  }
  return wrong_value("an order of ranks is block, round-robin, reversed-axes or random:SEED",
                     fmt::format("'{}'", order));
}

} // namespace kumihimo
