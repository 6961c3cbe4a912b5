// The golden copy of a schedule's results: the programs of all ranks walked one after the other in one memory, every
// reduction done by the plain loops. It shares nothing with the engine: no rounds in flight, no windows, no slots, no
// transport; a message is a copy in a map.
//
// Messages are kept until they are received, so this needs the memory of all ranks' vectors together.
#pragma once

#include "schedule/schedule.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace kumihimo::bench_driver {

using Vector = std::vector<std::byte>; // elements one after the other

// target[i] = op(left[i], right[i]).
using Combine = std::function<void(const void* left, const void* right, void* target, std::int64_t count)>;

// The plain loop for a collective's type and operation.
Combine plain_loop(const Collective& collective);

// What each rank's output must hold; empty where a rank has none. inputs[r]: rank r's input, of its own length, also
// where it shares its memory with the output; then it is copied aside first unless `in_place_safe`. Errors: ranks that
// wait for one another for ever; a step of the network's engine.
Result<std::vector<Vector>> golden_outputs(const ProgramSet& set, const std::vector<Vector>& inputs,
                                           const Combine& combine, bool in_place_safe = true);
inline Result<std::vector<Vector>> golden_outputs(const Schedule& schedule, const std::vector<Vector>& inputs,
                                                  const Combine& combine) {
  return golden_outputs(schedule, inputs, combine, schedule.claims.in_place_safe);
}

} // namespace kumihimo::bench_driver
