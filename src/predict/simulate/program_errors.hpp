// What the models say of programs that do not fit together, and where they can tell.
#pragma once

#include "base/result.hpp"
#include "program/program_set.hpp"

namespace kumihimo::simulation {

inline constexpr const char* verify_it = "check it with kumihimo verify"; // advice where programs do not fit together

// Whether all segments of the extent have the same number of elements.
bool same_in_all_segments(const Extent& extent, const DataLayout& data, std::int64_t segments);

// Whether the k-th message that the lane starts is the k-th that its program names: where several rounds of several
// iterations are under way at once, the models start them as time has it.
bool starts_in_order(const Body& body);

struct Endpoints { // of a message
  std::int32_t sender = 0, receiver = 0, lane = 0;
  std::int64_t sent = 0, expected = 0; // elements
};
Error unequal_lengths(const Endpoints& m);

Error does_not_end(std::int64_t lanes); // `lanes`: the number of lanes that wait for ever

} // namespace kumihimo::simulation
