// What ranks of graphs are asked to do on a network, and when they have done it.
#pragma once

#include "goal/aftermath.hpp"
#include "goal/noise.hpp"
#include "goal/observer.hpp"

#include <optional>
#include <span>
#include <vector>

namespace kumihimo::hosts {

using goal::Time;

struct NodeDeath {
  std::int32_t node = 0;
  Time time = 0;
};

struct HostsOptions {
  bool waits_for_receive = false; // a send starts once its receive is posted
  std::uint64_t unexpected = 0;   // then: but for those of so many bytes or fewer
  std::vector<NodeDeath> deaths;  // of a node listed twice the first one
  std::optional<goal::NoiseModel> noise;
};

struct Outcome {
  std::vector<Time> end; // by rank: of its last operation, from the start
  Time last = 0;
  std::int32_t last_rank = 0;
  std::uint64_t operations = 0; // sends, receives and calcs that were completed
  Time lost_to_noise = 0;       // of all ranks
  struct Unequal {              // a message and its receive that differ in their bytes
    std::int32_t sender = 0, receiver = 0;
    std::uint32_t lane = 0; // of the sender
    std::uint64_t sent = 0, expected = 0;
  };
  std::optional<Unequal> unequal;           // of programs, the first one
  Time start = 0;                           // on the clock of the network
  std::optional<goal::Ends> ends;           // where nodes die: of each operation
  std::optional<goal::Aftermath> aftermath; // the same
};

using Observers = std::span<goal::Observer* const>;

} // namespace kumihimo::hosts
