#include "mapping/structured/box.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::mapping {
namespace {

constexpr std::int64_t most_origins = 4096;           // of a box that are tried on a host with holes
constexpr std::int64_t most_places_seen = 20'000'000; // for all boxes on a host with holes

// Slots of a network without axes, in block order: what shares a switch is consecutive.
Box row_of_slots(std::int32_t places) {
  Box box;
  box.axes = {{places, false}};
  box.slot_of_place.resize(static_cast<std::size_t>(places));
  std::iota(box.slot_of_place.begin(), box.slot_of_place.end(), 0);
  return box;
}

bool has_holes(const MappingHost& host) {
  return !host.slots.are_even() || host.metric.nodes() != host.metric.axes().places();
}

// Fills in the slots of the box at an origin; false where a node of it has too few. Takes the nodes seen from `left`.
bool place_box(const MappingHost& host, const Coordinates& origin, std::int32_t each, Box& box, std::int64_t& left) {
  const std::size_t axes = origin.size();
  const std::int32_t nodes = std::accumulate(box.axes.begin(), box.axes.begin() + static_cast<std::ptrdiff_t>(axes), 1,
                                             [](std::int32_t n, Axis axis) { return n * axis.length; });
  box.slot_of_place.clear();
  Coordinates at = origin;
  for (std::int32_t place = 0; place < nodes; ++place) {
    std::int32_t rest = place;
    for (std::size_t axis = axes; axis-- > 0;) {
      at[axis] = origin[axis] + rest % box.axes[axis].length;
      rest /= box.axes[axis].length;
    }
    --left;
    const std::int32_t node = host.metric.node_at(at);
    if (node < 0 || host.slots.on(NodeId{node}) < each) return false;
    for (std::int32_t number = 0; number < each; ++number)
      box.slot_of_place.push_back(host.slots.index({NodeId{node}, number}));
  }
  return true;
}

bool find_place(const MappingHost& host, std::int32_t each, Box& box, std::int64_t& left, const Tools& tools) {
  const std::size_t axes = static_cast<std::size_t>(host.metric.axes().dimensions());
  Coordinates origin(axes, 0);
  for (std::int64_t tried = 0; tried < most_origins; ++tried) {
    if (place_box(host, origin, each, box, left)) return true;
    if (!has_holes(host) || left <= 0 || tools.stop()) return false;
    std::size_t axis = axes;
    while (axis > 0) {
      --axis;
      const std::int32_t room =
          box.axes[axis].wraps ? 0 : host.metric.axes().length(static_cast<std::int32_t>(axis)) - box.axes[axis].length;
      if (origin[axis] < room) {
        ++origin[axis];
        break;
      }
      origin[axis] = 0;
      if (axis == 0) return false;
    }
  }
  return false;
}

class Boxes {
 public:
  Boxes(const MappingHost& host, std::size_t most, const Tools& tools) : host_(host), most_(most), tools_(tools) {}

  std::vector<Box> of(std::int32_t places) {
    std::int32_t slots = 0;
    for (std::int32_t node = 0; node < host_.metric.nodes(); ++node)
      slots = std::max(slots, host_.slots.on(NodeId{node}));
    for (std::int32_t each = std::min(slots, longest_axis); each >= 1; --each)
      if (places % each == 0) choose(0, places / each, each);
    return std::move(found_);
  }

 private:
  // Longest first: few parts of rings, compact boxes.
  void choose(std::size_t axis, std::int32_t rest, std::int32_t each) {
    const Shape& shape = host_.metric.axes();
    if (found_.size() >= most_ || left_ <= 0) return;
    if (axis == static_cast<std::size_t>(shape.dimensions())) {
      if (rest == 1) add(each);
      return;
    }
    const std::int32_t longest = std::min(shape.length(static_cast<std::int32_t>(axis)), longest_axis);
    for (std::int32_t length = longest; length >= 1; --length) {
      if (rest % length != 0) continue;
      lengths_.push_back(length);
      choose(axis + 1, rest / length, each);
      lengths_.pop_back();
    }
  }

  void add(std::int32_t each) {
    const Shape& shape = host_.metric.axes();
    Box box;
    for (std::size_t axis = 0; axis < lengths_.size(); ++axis) {
      const Axis whole = shape.axes()[axis];
      box.axes.push_back({lengths_[axis], whole.wraps && lengths_[axis] == whole.length});
    }
    if (each > 1) box.axes.push_back({each, false});
    if (!find_place(host_, each, box, left_, tools_)) return;
    for (std::size_t axis = 0; axis < lengths_.size(); ++axis) {
      std::vector<std::int32_t>& hops = box.hops.emplace_back();
      for (std::int32_t from = 0; from < lengths_[axis]; ++from)
        for (std::int32_t to = 0; to < lengths_[axis]; ++to)
          hops.push_back(host_.metric.along(static_cast<std::int32_t>(axis), from, to));
    }
    if (each > 1) box.hops.emplace_back(static_cast<std::size_t>(each) * static_cast<std::size_t>(each), 0);
    std::erase_if(box.hops, [&](const auto& hops) { return hops.size() == 1; });
    std::erase_if(box.axes, [](Axis axis) { return axis.length == 1; });
    if (box.axes.empty()) return;
    found_.push_back(std::move(box));
  }

  const MappingHost& host_;
  std::size_t most_;
  const Tools& tools_;
  std::int64_t left_ = most_places_seen; // looks at places where a box may be
  std::vector<std::int32_t> lengths_;
  std::vector<Box> found_;
};

} // namespace

std::vector<Box> boxes_of(const MappingHost& host, std::int32_t places, std::size_t most, const Tools& tools) {
  if (places > host.size() || places < 2) return {};
  if (!host.metric.has_axes() && places > longest_axis) return {};
  if (!host.metric.has_axes()) return {row_of_slots(places)};
  return Boxes(host, most, tools).of(places);
}

} // namespace kumihimo::mapping
