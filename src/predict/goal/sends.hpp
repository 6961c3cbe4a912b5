// How much a rank of graphs sends to each other rank: what a placement of recorded programs is judged by.
#pragma once

#include "goal/graph.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::goal {

struct SentTo {
  std::int32_t rank = 0;
  std::uint64_t bytes = 0, messages = 0;
  bool operator==(const SentTo&) const = default;
};

// Of all sends of `rank`, in ascending order of receivers; itself may be among them.
std::vector<SentTo> sends_of(const Graphs& graphs, std::int32_t rank);

} // namespace kumihimo::goal
