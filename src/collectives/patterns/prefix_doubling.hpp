// Sums of all operands up to a rank's own, in ceil(log2 P) steps: what scan and exscan by recursive doubling share.
#pragma once

#include "collectives/patterns/blocks.hpp"

namespace kumihimo {

// The scan over ranks first .. P - 1, of what `sum` holds at this one.
inline void double_prefixes(LaneBuilder& lane, const Array& cells, Chunk sum, std::int64_t first, std::int64_t P,
                            std::int64_t r) {
  int cell = 0;
  for (std::int64_t distance = 1; distance < P - first; distance *= 2) {
    const bool sends = r + distance < P, receives = r - distance >= first, last = r - 2 * distance < first;
    if (sends) {
      if (!receives) {
        lane.step(send(r + distance, sum));
        continue;
      }
      // Not the output yet: what is sent may be the input, and both one memory.
      const Chunk next = cells.at(cell = 1 - cell, whole());
      lane.round({send(r + distance, sum), receive_reduce(r - distance, sum, next, Arriving::left)});
      sum = next;
    } else if (receives) {
      const Chunk next = last ? out[whole()] : cells.at(cell = 1 - cell, whole());
      lane.step(receive_reduce(r - distance, sum, next, Arriving::left));
      sum = next;
    }
  }
  if (!(sum == out[whole()])) lane.step(copy(out[whole()], sum));
}

} // namespace kumihimo
