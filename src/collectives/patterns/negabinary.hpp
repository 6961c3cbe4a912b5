// The arithmetic that Swing and Bine trees share: distances that are sums of powers of -2.
#pragma once

#include <cstdint>

namespace kumihimo {

// 1, -1, 3, -5, 11, ...: the sum of (-2)^i for i = 0 .. step.
constexpr std::int64_t swing_distance(int step) {
  std::int64_t sum = 0, power = 1;
  for (int i = 0; i <= step; ++i, power *= -2) sum += power;
  return sum;
}

// Who talks to whom at distance `step`: even numbers one way, odd ones the other.
constexpr std::int64_t swing_partner(std::int64_t number, int step) {
  return number % 2 == 0 ? number + swing_distance(step) : number - swing_distance(step);
}

// Numbers that a number reaches over the distances below `steps`, each once or not at all, the largest first: 2^steps
// numbers in a row. From an even number they are number + low ...; from an odd one the mirror image, number - high ...
struct SwingReach {
  std::int64_t low = 0, high = 0;

  static constexpr SwingReach over(int steps) {
    SwingReach reach;
    for (int s = 0; s < steps; ++s) {
      const std::int64_t d = swing_distance(s);
      reach = d > 0 ? SwingReach{reach.low, d - reach.low} : SwingReach{d - reach.high, reach.high};
    }
    return reach;
  }
  constexpr std::int64_t first(std::int64_t number) const { return number % 2 == 0 ? number + low : number - high; }
};

} // namespace kumihimo
