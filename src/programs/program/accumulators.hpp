// Turns accumulator chunks into plain ones: the input where the lane has surely not written yet, its accumulator where
// it surely has. Where neither is sure the chunk stays, and verification refuses it.
#pragma once

#include "program/program.hpp"

namespace kumihimo {

// Whether every element of `inner` surely lies in `outer`, with variable d in [0, trips[d]). Sound, not complete:
// extents of one plain run are compared by bounds of their difference, others only for equality.
bool covers(const Extent& outer, const Extent& inner, std::span<const std::int64_t> trips);

// Whether the two surely share no element, in the same way.
bool disjoint(const Extent& a, const Extent& b, std::span<const std::int64_t> trips);

// The body of one iteration, the loop at `depth` gone: its variable replaced, deeper loops moved up.
Body instantiate(const Body& body, std::int32_t depth, std::int64_t value);

void resolve_accumulators(Lane& lane, Segments segments);

} // namespace kumihimo
