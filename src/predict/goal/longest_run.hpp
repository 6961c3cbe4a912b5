// Times are 64-bit picoseconds: a run ends with an error before they wrap.
#pragma once

#include "goal/graph.hpp"

namespace kumihimo::goal {

inline constexpr Time longest_run = Time{1} << 60; // 13 days; one operation more, with noise, still fits

inline Error run_too_long() {
  return wrong_value("the simulated time must be at most 13 days", {}, "take fewer steps, or shorter computations");
}

} // namespace kumihimo::goal
