// The golden copy of a schedule's results: one process runs the programs of all ranks in turn and reduces by plain
// loops. It shares nothing with the engine: no rounds in flight, no windows, no slots, no transport. A message is a
// copy in a map, kept until it is received. So the golden copy needs the memory of all ranks' vectors together.
#pragma once

#include "schedule/schedule.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace kumihimo::bench_driver {

using Vector = std::vector<std::byte>; // elements one after the other

// Computes target[i] = op(left[i], right[i]).
using Combine = std::function<void(const void* left, const void* right, void* target, std::int64_t count)>;

// The plain loop for a collective's type and operation.
Combine plain_loop(const Collective& collective);

// The output of each rank; empty if a rank has none. inputs[r]: the input of rank r, of its own length, also if it
// shares its memory with the output; then it is first copied unless `in_place_safe`. Errors: ranks that wait for each
// other for ever; a step of the network's engine.
Result<std::vector<Vector>> golden_outputs(const ProgramSet& set, const std::vector<Vector>& inputs,
                                           const Combine& combine, bool in_place_safe = true);
inline Result<std::vector<Vector>> golden_outputs(const Schedule& schedule, const std::vector<Vector>& inputs,
                                                  const Combine& combine) {
  return golden_outputs(schedule, inputs, combine, schedule.claims.in_place_safe);
}

} // namespace kumihimo::bench_driver
