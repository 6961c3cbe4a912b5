// Tofu machines for tests, and what one hop is, told without the code under test.
#pragma once

#include "shapes.hpp"
#include "topology/tofu_job.hpp"

#include <cstdlib>

namespace kumihimo {

// K: 24x18x16 groups for jobs and the I/O nodes at z = 0.
inline TofuMachine k_machine() { return {*Tofu::make(*Shape::parse("24x18mx17x2mx3x2m")), true}; }
inline TofuMachine fugaku_machine() { return {*Tofu::make(*Shape::parse("24x23mx24x2mx3x2m")), false}; }

inline TofuRequest box(std::string_view text) { return *TofuRequest::parse(text); }

// Whether a cable joins two places: they differ by one along one axis, or are the two ends of a ring.
inline bool beside(const Shape& machine, const TofuPlace& s, const TofuPlace& t) {
  int different = 0;
  bool near = true;
  for (std::int32_t axis = 0; axis < Tofu::axes; ++axis) {
    if (s[axis] == t[axis]) continue;
    ++different;
    const std::int32_t apart = std::abs(s[axis] - t[axis]);
    near &= apart == 1 || (machine.axes()[axis].wraps && apart == machine.length(axis) - 1);
  }
  return different == 1 && near;
}

} // namespace kumihimo
