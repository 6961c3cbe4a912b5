// Any number of ranks for algorithms made for powers of two: the first 2 (P - 2^k) ranks pair up, each odd one gives
// its values to its even neighbour and gets the result back at the end. Pairs are neighbours in rank order, so that the
// operands stay in it. Reference: Rabenseifner, Optimization of collective reduction operations, ICCS 2004, section 2.
#pragma once

#include "base/ids.hpp"

#include <bit>
#include <cstdint>
#include <optional>

namespace kumihimo {

struct Fold {
  std::int32_t power = 1; // 2^k, the ranks that stay
  std::int32_t extra = 0; // ranks folded away

  explicit Fold(std::int32_t ranks)
      : power(static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(ranks)))), extra(ranks - power) {}

  int steps() const { return std::countr_zero(static_cast<std::uint32_t>(power)); }
  bool is_paired(Rank r) const { return r.value < 2 * extra; }
  bool is_folded_away(Rank r) const { return is_paired(r) && r.value % 2 == 1; }
  Rank partner(Rank r) const { return Rank{r.value ^ 1}; }

  // The number among those that stay, and back.
  std::int32_t number(Rank r) const { return is_paired(r) ? r.value / 2 : r.value - extra; }
  Rank rank(std::int32_t number) const { return Rank{number < extra ? 2 * number : number + extra}; }
};

} // namespace kumihimo
