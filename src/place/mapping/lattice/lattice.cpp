#include "mapping/lattice/lattice.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace kumihimo::mapping {

std::string Lattice::name() const {
  if (has_full_rows)
    return fmt::format("all pairs in rows and columns of {}x{}", shape.axes()[0].length, shape.axes()[1].length);
  bool wraps = false;
  for (const Axis& axis : shape.axes()) wraps |= axis.is_ring();
  int neighbours = 0;
  for (const Offset& offset : offsets) {
    bool is_near = true, is_own_opposite = true;
    for (std::size_t axis = 0; axis < offset.step.size(); ++axis) {
      const bool is_pair = shape.axes()[axis].length == 2; // a place has one of the steps 1 and -1 there
      is_near &= std::abs(offset.step[axis]) <= 1 && !(is_pair && offset.step[axis] < 0);
      is_own_opposite &= offset.step[axis] == 0 || is_pair;
    }
    if (is_near) neighbours += is_own_opposite ? 1 : 2;
  }
  return fmt::format("{}{} {}, {} neighbours", is_twisted ? "twisted " : "", wraps ? "torus" : "mesh", shape.text(),
                     neighbours);
}

} // namespace kumihimo::mapping
