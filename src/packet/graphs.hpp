// Graphs of operations (goal/graph.hpp) on a machine's network, packet by packet.
//
//   send     occupies its interface (`nic`, a lane's queue) for the machine's message_cost. Then an engine of its node
//            may take the message, after those before it from the interface to the same rank have left the node. It
//            ends when its last byte has left the node.
//   receive  ends when it has been posted, and the machine's relay_latency after the last packet has arrived; of a
//            message longer than eager_bytes, rendezvous_latency later.
//   calc     occupies its processor.
//
// Messages are sent whether or not a receive is posted, unless the options say that a send waits for it. Between ranks
// of one node a message is a copy.
#pragma once

#include "goal/graph.hpp"
#include "goal/observer.hpp"
#include "packet/simulate.hpp"

namespace kumihimo::packet {

struct GraphOutcome {
  std::vector<Time> end; // by rank: of its last operation
  Time last = 0;
  std::int32_t last_rank = 0;
  std::uint64_t operations = 0; // sends, receives and calcs that were completed
  Traffic traffic;
};

using Observers = std::span<goal::Observer* const>;

// `nodes`: of each rank. Errors: those of run(machine,
// messages); another number of ranks than of nodes; what never matches, with its rank and operation.
Result<GraphOutcome> run(const Machine& machine, const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                         const Options& options = {}, Observers observers = {});
// Where messages and software take no time: what is left is that ranks compute and wait for each other.
Result<GraphOutcome> run_ideal(const goal::Graphs& graphs, Observers observers = {});

} // namespace kumihimo::packet
