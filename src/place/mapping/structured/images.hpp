// Maps of equal hop-bytes and other link loads: the images of a map under symmetries of the host.
#pragma once

#include "mapping/structured/box_cost.hpp"

namespace kumihimo::mapping {

// The map itself, then its images under exchanges of equal axes, reflections, and shifts along rings by one place: at
// most `most`. Routes walk the axes in order and break ties by coordinate, so that link loads differ.
std::vector<CoordinatesOfRanks> symmetric_images(const Box& box, const CoordinatesOfRanks& at, std::size_t most);

} // namespace kumihimo::mapping
