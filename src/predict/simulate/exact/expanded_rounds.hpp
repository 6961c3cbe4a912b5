// One lane of one rank with its loops expanded: rounds, and which rounds each waits for. The same for every segment but
// for the lengths.
#pragma once

#include "program/program.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace kumihimo::simulation {

struct ExpandedStep {
  const Step* step = nullptr;
  const Expression* gap = nullptr; // of its round
  LoopValues values{};
  std::int32_t offload = -1; // its number among the offloads of its lane
};

struct ExpandedRound { // without steps: it joins iterations of a loop
  std::vector<ExpandedStep> steps;
  std::vector<std::int32_t> next; // rounds that wait for this one
  std::int32_t waits_for = 0;
};

// The rounds of a lane, which must outlive them.
std::vector<ExpandedRound> expand(const Lane& lane);

} // namespace kumihimo::simulation
