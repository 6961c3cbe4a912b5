// A 128-bit integer for products of 64-bit ones, which GCC and Clang have as an extension.
#pragma once

#include <cstdint>
#include <limits>

namespace kumihimo {

__extension__ using Wide = __int128;

constexpr std::int64_t saturated(Wide n) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return n > most ? most : static_cast<std::int64_t>(n);
}

} // namespace kumihimo
