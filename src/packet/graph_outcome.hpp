// What the packet model tells of graphs of operations.
#pragma once

#include "goal/aftermath.hpp"
#include "goal/observer.hpp"
#include "packet/background.hpp"
#include "packet/options.hpp"

#include <optional>
#include <span>
#include <vector>

namespace kumihimo::packet {

struct GraphOutcome {
  std::vector<Time> end; // by rank: of its last operation, from the start
  Time last = 0;
  std::int32_t last_rank = 0;
  std::uint64_t operations = 0; // sends, receives and calcs that were completed
  Traffic traffic;
  // With background jobs: when it started on the clock of the network, and what each of them did until its end.
  Time start = 0;
  std::vector<BackgroundUse> background;
  std::optional<goal::Ends> ends;           // where nodes die: of each operation
  std::optional<goal::Aftermath> aftermath; // the same
};

using Observers = std::span<goal::Observer* const>;

} // namespace kumihimo::packet
