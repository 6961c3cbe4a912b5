// Checks of one step's accesses to its rank's memory, without the data: within the buffers, no use that collides with
// another one in flight, no input read after it was overwritten in place.
#pragma once

#include "verify/rank_state.hpp"

#include <optional>

namespace kumihimo::verify {

// Registers the uses of step `step` (an index in the activation's steps) of round `node`; what is wrong, if anything.
std::optional<Finding> use_memory(RankState& state, const Activation& a, std::int32_t node, std::int32_t step,
                                  ValueStore& store);

std::string element_text(std::int32_t buffer, std::int64_t element); // "scratch 0 element 7"

// One rank by itself: every step and element of its first `segments` segments, nothing being sent. Finds collisions of
// different elements in one cell, which following one element cannot see.
std::optional<Finding> check_footprint(const Subject& schedule, Rank rank, std::int64_t segments, OrderCache& orders);

} // namespace kumihimo::verify
