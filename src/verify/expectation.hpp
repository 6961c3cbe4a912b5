// What a collective is, without any algorithm: what each rank holds at first, and what it must hold at the end.
#pragma once

#include "schedule/binding.hpp"

#include <vector>

namespace kumihimo::verify {

// The rank's input, from position 0: `count` elements that are its own contribution; 0 where it contributes nothing.
std::int64_t contributed(const Binding& binding);

// Elements [first, first + count) of the output: the contributions of ranks low .. high-1, each from `position` of its
// input on.
struct Wanted {
  std::int64_t first = 0, count = 0;
  std::int32_t low = 0, high = 0;
  std::int64_t position = 0;
};
std::vector<Wanted> wanted(const Binding& binding);

} // namespace kumihimo::verify
