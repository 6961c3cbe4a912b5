#include "placement/orders.hpp"

#include "base/hash.hpp"
#include "base/text_parsing.hpp"
#include "placement/hilbert.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace kumihimo {
namespace {

constexpr std::string_view names_of_axes = "xyzabcdefghijklmnopqrstuvw";
constexpr std::string_view forms_of_orders =
    "block, round-robin, folded, axes:AXES, reversed-axes, snake[:AXES], hilbert[:AXES], blocks:CELLS[:GRID] or "
    "random:SEED";

// An order as it is written: its name, and what stands behind the colon.
struct WrittenOrder {
  std::string_view text, name;
  std::optional<std::string_view> argument;
};

WrittenOrder split(std::string_view order) {
  const std::size_t colon = order.find(':');
  if (colon == std::string_view::npos) return {order, order, std::nullopt};
  return {order, order.substr(0, colon), order.substr(colon + 1)};
}

// Which axes run fastest, the fastest first, and which of them are walked from their end.
struct AxisOrder {
  std::vector<std::int32_t> axes;
  std::vector<bool> reflected;

  static AxisOrder row_major(std::int32_t dimensions) {
    AxisOrder order{{}, std::vector<bool>(static_cast<std::size_t>(dimensions))};
    for (std::int32_t axis = dimensions - 1; axis >= 0; --axis) order.axes.push_back(axis);
    return order;
  }
};

bool have_axes(const OrderContext& context) {
  return context.nodes.dimensions() > 0 && context.nodes.dimensions() <= static_cast<int>(names_of_axes.size()) &&
         context.nodes.places() == context.slots.nodes();
}

Result<AxisOrder> axes_of(const WrittenOrder& order, const OrderContext& context) {
  if (!have_axes(context))
    return not_applicable(fmt::format("the order {} needs nodes with axes", order.text), {},
                          "take round-robin or random:SEED");
  const std::int32_t dimensions = context.nodes.dimensions();
  AxisOrder axes = AxisOrder::row_major(dimensions);
  if (order.name == "reversed-axes") std::reverse(axes.axes.begin(), axes.axes.end());
  if (!order.argument) return axes;
  axes = {};
  const std::string_view names = names_of_axes.substr(0, static_cast<std::size_t>(dimensions));
  for (std::string_view rest = *order.argument; !rest.empty(); rest.remove_prefix(1)) {
    const bool reflected = take(rest, "-");
    const std::size_t axis = rest.empty() ? std::string_view::npos : names.find(rest.front());
    if (axis == std::string_view::npos) break;
    axes.axes.push_back(static_cast<std::int32_t>(axis));
    axes.reflected.push_back(reflected);
    if (rest.size() == 1) {
      const std::vector<std::int32_t> all = AxisOrder::row_major(dimensions).axes;
      if (std::is_permutation(axes.axes.begin(), axes.axes.end(), all.begin(), all.end())) return axes;
    }
  }
  return wrong_value(fmt::format("{} takes each axis of the nodes once, from {}, with - before an axis to reflect",
                                 order.name, fmt::join(names, ", ")),
                     fmt::format("'{}'", order.text), fmt::format("write it like {}:{}", order.name, names));
}

std::vector<std::int32_t> every_place(const Shape& walked) {
  std::vector<std::int32_t> places(static_cast<std::size_t>(walked.places()));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

// To and fro: an axis is walked backwards where the place counted along all slower axes is odd.
std::vector<std::int32_t> places_of_snake(const Shape& walked) {
  std::vector<std::int32_t> places = every_place(walked);
  for (std::int32_t& place : places) {
    Coordinates c = walked.coordinates(place);
    std::int64_t slower = 0;
    for (std::int32_t axis = 0; axis < walked.dimensions(); ++axis) {
      const bool backwards = slower % 2 != 0;
      slower = slower * walked.length(axis) + c[axis];
      if (backwards) c[axis] = walked.length(axis) - 1 - c[axis];
    }
    place = walked.place(c);
  }
  return places;
}

using PlacesOfWalk = std::vector<std::int32_t> (*)(const Shape& walked);

// All slots of one node after the other, the nodes along a walk through their shape with its axes in this order.
std::vector<Slot> slots_along(PlacesOfWalk places_of, const AxisOrder& order, const OrderContext& context) {
  std::vector<Axis> axes;
  for (auto axis = order.axes.rbegin(); axis != order.axes.rend(); ++axis)
    axes.push_back(context.nodes.axes()[static_cast<std::size_t>(*axis)]);
  const Shape walked(std::move(axes));
  std::vector<Slot> slots;
  slots.reserve(static_cast<std::size_t>(context.slots.size()));
  Coordinates c(order.axes.size());
  for (const std::int32_t place : places_of(walked)) {
    const Coordinates slowest_first = walked.coordinates(place);
    for (std::size_t i = 0; i < order.axes.size(); ++i) {
      const std::int32_t axis = order.axes[i], at = slowest_first[order.axes.size() - 1 - i];
      c[axis] = order.reflected[i] ? context.nodes.length(axis) - 1 - at : at;
    }
    const NodeId node{context.nodes.place(c)};
    for (std::int32_t number = 0; number < context.slots.on(node); ++number) slots.push_back({node, number});
  }
  return slots;
}

// Slot 0 of every node, then slot 1, ...; folded: every other time from the last node to the first.
std::vector<Slot> slot_by_slot(const Slots& slots, bool folded) {
  std::vector<Slot> order;
  std::int32_t most = 0;
  for (std::int32_t node = 0; node < slots.nodes(); ++node) most = std::max(most, slots.on(NodeId{node}));
  for (std::int32_t number = 0; number < most; ++number)
    for (std::int32_t i = 0; i < slots.nodes(); ++i) {
      const NodeId node{folded && number % 2 != 0 ? slots.nodes() - 1 - i : i};
      if (slots.contains({node, number})) order.push_back({node, number});
    }
  return order;
}

std::vector<Slot> in_block_order(const Slots& slots) {
  std::vector<Slot> order;
  for (std::int32_t i = 0; i < slots.size(); ++i) order.push_back(slots.at(i));
  return order;
}

Result<std::vector<Slot>> shuffled(const WrittenOrder& written, const Slots& slots) {
  const auto seed = number_in<std::uint64_t>(*written.argument);
  if (!seed)
    return wrong_value("the seed is a number from 0 to 2^64 - 1, as in random:7", fmt::format("'{}'", written.text));
  std::vector<Slot> order = in_block_order(slots);
  for (auto left = static_cast<std::uint64_t>(order.size()); left > 1; --left)
    std::swap(order[left - 1], order[mixed(*seed, left) % left]);
  return order;
}

// The ranks of a grid box by box: those of the first box take the first slots of block order.
Result<std::vector<Slot>> in_boxes(const WrittenOrder& written, const OrderContext& context) {
  std::string_view rest = *written.argument;
  const bool states_grid = rest.find(':') != std::string_view::npos;
  const Shape box = TRY(Shape::parse(take_until(rest, ':')));
  if (!states_grid && !context.grid)
    return wrong_value(fmt::format("the order {} needs a grid of ranks", written.text), {},
                       "add the grid behind the box, as in blocks:2x2:8x8");
  Shape grid = context.grid.value_or(Shape());
  if (states_grid) grid = TRY(Shape::parse(rest));
  if (grid.places() != context.ranks)
    return wrong_value(
        fmt::format("the grid of {} must have {} places, one for each rank", written.text, context.ranks),
        grid.places());
  bool fits = box.dimensions() == grid.dimensions();
  for (std::int32_t axis = 0; fits && axis < grid.dimensions(); ++axis)
    fits = grid.length(axis) % box.length(axis) == 0;
  if (!fits)
    return wrong_value(fmt::format("boxes of ranks must divide each axis of the grid {}", grid.text()), box.text());
  std::vector<Slot> slot_of_rank;
  for (std::int32_t rank = 0; rank < context.ranks; ++rank) {
    std::int32_t which = 0, inside = 0;
    for (std::int32_t axis = 0; axis < grid.dimensions(); ++axis) {
      const std::int32_t at = grid.coordinate(rank, axis), length = box.length(axis);
      which = which * (grid.length(axis) / length) + at / length;
      inside = inside * length + at % length;
    }
    slot_of_rank.push_back(context.slots.at(which * box.places() + inside));
  }
  return slot_of_rank;
}

PlacesOfWalk walk_of(const WrittenOrder& order) {
  if (order.text == "reversed-axes" || (order.name == "axes" && order.argument)) return every_place;
  return order.name == "snake" ? places_of_snake : order.name == "hilbert" ? places_along_hilbert_curve : nullptr;
}

// Of at least as many ranks as the context has.
Result<std::vector<Slot>> slots_in_order(const WrittenOrder& order, const OrderContext& context) {
  if (const PlacesOfWalk walk = walk_of(order)) {
    const AxisOrder axes = TRY(axes_of(order, context));
    return slots_along(walk, axes, context);
  }
  if (order.name == "random" && order.argument) return shuffled(order, context.slots);
  if (order.name == "blocks" && order.argument) return in_boxes(order, context);
  if (order.text == "round-robin") return slot_by_slot(context.slots, false);
  if (order.text == "folded") return slot_by_slot(context.slots, true);
  if (order.text == "block" || order.text == "smp") return in_block_order(context.slots);
  return wrong_value(fmt::format("an order of ranks is {}", forms_of_orders), fmt::format("'{}'", order.text));
}

// Every order of the axes that are longer than 1, in which the others are slowest.
std::vector<std::vector<std::int32_t>> orders_of_axes(const Shape& nodes) {
  std::vector<std::int32_t> long_axes, others;
  for (std::int32_t axis = 0; axis < nodes.dimensions(); ++axis)
    (nodes.length(axis) > 1 ? long_axes : others).push_back(axis);
  std::vector<std::vector<std::int32_t>> orders;
  const auto add = [&] {
    orders.push_back(long_axes);
    orders.back().insert(orders.back().end(), others.begin(), others.end());
  };
  constexpr std::size_t most_to_permute = 4;
  if (long_axes.size() <= most_to_permute) {
    do add();
    while (std::next_permutation(long_axes.begin(), long_axes.end()));
    return orders;
  }
  for (int direction = 0; direction < 2; ++direction) {
    for (std::size_t i = 0; i < long_axes.size(); ++i) {
      add();
      std::rotate(long_axes.begin(), long_axes.begin() + 1, long_axes.end());
    }
    std::reverse(long_axes.begin(), long_axes.end());
  }
  return orders;
}

// Every box of this many cells that divides the grid.
void add_boxes(const Shape& grid, std::int32_t cells, std::vector<Axis>& lengths, std::vector<std::string>& boxes) {
  const auto axis = static_cast<std::int32_t>(lengths.size());
  if (axis == grid.dimensions()) {
    if (cells == 1) boxes.push_back(Shape(lengths).text());
    return;
  }
  for (std::int32_t length = 1; length <= std::min(cells, grid.length(axis)); ++length) {
    if (cells % length != 0 || grid.length(axis) % length != 0) continue;
    lengths.push_back({length});
    add_boxes(grid, cells / length, lengths, boxes);
    lengths.pop_back();
  }
}

std::uint64_t hash_of_slots(const Placement& placement) {
  std::uint64_t hash = 0;
  for (std::int32_t r = 0; r < placement.ranks(); ++r)
    hash = mixed(hash, static_cast<std::uint64_t>(placement.index(Rank{r})));
  return hash;
}

} // namespace

Result<Placement> placement_in_order(std::string_view order, const OrderContext& context) {
  if (context.ranks < 1 || context.ranks > context.slots.size())
    return wrong_value(fmt::format("the job has slots for 1 to {} ranks", context.slots.size()), context.ranks,
                       "give more ranks per node");
  std::vector<Slot> slots = TRY(slots_in_order(split(order), context));
  slots.resize(static_cast<std::size_t>(context.ranks));
  return Placement::make(context.slots, slots);
}

Result<Placement> placement_in_order(std::string_view order, const Slots& slots, const Shape& nodes) {
  return placement_in_order(order, OrderContext{slots, nodes, std::nullopt, slots.size()});
}

std::vector<std::string> names_of_orders(const OrderContext& context) {
  std::vector<std::string> names = {"block", "round-robin", "folded"};
  if (have_axes(context)) {
    for (const std::vector<std::int32_t>& axes : orders_of_axes(context.nodes)) {
      std::string letters;
      for (const std::int32_t axis : axes) letters += names_of_axes[static_cast<std::size_t>(axis)];
      for (const char* walk : {"axes", "snake", "hilbert"}) names.push_back(fmt::format("{}:{}", walk, letters));
    }
  }
  if (context.grid && context.slots.are_even() && context.grid->places() == context.ranks) {
    std::vector<Axis> lengths;
    std::vector<std::string> boxes;
    add_boxes(*context.grid, context.slots.size() / context.slots.nodes(), lengths, boxes);
    for (const std::string& box : boxes) names.push_back("blocks:" + box);
  }
  return names;
}

std::vector<std::string> simple_orders(const OrderContext& context) {
  std::vector<std::string> different;
  std::unordered_set<std::uint64_t> seen;
  for (std::string& name : names_of_orders(context)) {
    const Result<Placement> placement = placement_in_order(name, context);
    if (placement && seen.insert(hash_of_slots(*placement)).second) different.push_back(std::move(name));
  }
  return different;
}

} // namespace kumihimo
