#include "collectives/patterns/bine_tree.hpp"

#include "base/expression.hpp"

#include <bit>

namespace kumihimo {

// From the root down: who holds the message, of those on the way to the number.
BinePlace bine_place(std::int32_t ranks, std::int64_t number) {
  BinePlace place;
  place.steps = std::countr_zero(static_cast<std::uint32_t>(ranks));
  std::int64_t at = 0;
  for (int step = place.steps - 1; step >= 0; --step) {
    const std::int64_t child = floor_mod(swing_partner(at, step), ranks);
    const bool below_child = floor_mod(number - SwingReach::over(step).first(at), ranks) >= std::int64_t{1} << step;
    if (below_child) {
      place.parent = at, place.steps = step;
      at = child;
    } else if (at == number) {
      place.children.insert(place.children.begin(), {child, step});
    }
  }
  return place;
}

} // namespace kumihimo
