// A box of a host's slots: all combinations of some coordinates on each axis, each with a slot. Structured maps fill
// it.
#pragma once

#include "mapping/objective/host.hpp"
#include "mapping/search/tools.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::mapping {

constexpr std::int32_t longest_axis = 4096; // of a box with hops: their table has the square of it

struct Box {
  std::vector<Axis> axes; // the last runs fastest; an axis that wraps is a whole ring of the host
  // Hops between two coordinates of an axis, length * length; empty: all places are on the one axis, and the host is
  // asked. Slots of a node are an axis of distance 0.
  std::vector<std::vector<std::int32_t>> hops;
  std::vector<std::int32_t> slot_of_place;

  std::int32_t places() const { return static_cast<std::int32_t>(slot_of_place.size()); }
  bool has_axes() const { return !hops.empty(); }
};

// Boxes of exactly so many places: the whole host, or parts of it, at most `most`. None where no lengths fit, where
// an axis would be longer than the longest, or where the host's holes leave no such box. On a host with holes, a search
// that was stopped or that looked at 20 million places finds no more.
std::vector<Box> boxes_of(const MappingHost& host, std::int32_t places, std::size_t most, const Tools& tools);

} // namespace kumihimo::mapping
