// Grids on networks whose lengths do not divide: both are cut in parts of the same share, along the same axis, until
// single ranks meet single slots. The cuts are jagged, as counts are exact: each slot is taken at most once.
#pragma once

#include "mapping/search/tools.hpp"
#include "mapping/structured/box_cost.hpp"

#include <functional>

namespace kumihimo::mapping {

// Axes of the host joined to longer ones, so that a host of six axes has the form of a grid of three. Joined axes are
// walked as a snake: the first one runs slowest.
struct HostForm {
  std::vector<std::int32_t> lengths;
  std::vector<std::vector<Coordinate>> coordinates_of_slot; // a row for each joined axis
};

// Forms of so many axes whose lengths are most like `lengths` in any order, the likest first; at most `most`. The host
// has axes.
std::vector<HostForm> forms_of(const MappingHost& host, std::span<const std::int32_t> lengths, std::size_t most);

// Cuts along the longest axis again and again, in halves; or along one axis after the other, in single layers, in the
// order of `axes`. `at` has a row of coordinates for each axis of the form. Ranks <= slots.
std::vector<std::int32_t> slots_by_halving(const HostForm& form, const CoordinatesOfRanks& at);
std::vector<std::int32_t> slots_by_layers(const HostForm& form, const CoordinatesOfRanks& at,
                                          std::span<const std::size_t> axes);

} // namespace kumihimo::mapping
