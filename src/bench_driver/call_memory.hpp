// The memory of one rank's call, in bytes: how long its buffers are, and which of them are one.
#pragma once

#include "program/program_set.hpp"
#include "schedule/collective.hpp"

#include <cstdint>

namespace kumihimo::bench_driver {

struct CallMemory {
  std::int64_t input_bytes = 0, output_bytes = 0; // 0 where the rank has none
  // In place: one memory of `shared_bytes`, in which the input and the output begin at these bytes.
  bool aliased = false;
  std::int64_t shared_bytes = 0, input_at = 0, output_at = 0;
  std::int64_t result_bytes = 0; // of the output; 0 where it is left undefined, by exscan on rank 0
  bool input_stays = false;      // no byte of the input may change

  std::int64_t all_bytes() const { return aliased ? shared_bytes : input_bytes + output_bytes; }
};
CallMemory memory_of(const Collective& collective, Rank rank);
CallMemory memory_of(const ProgramSet& set, Rank rank);

} // namespace kumihimo::bench_driver
