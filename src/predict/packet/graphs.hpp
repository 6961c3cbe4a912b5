// Graphs of operations (goal/graph.hpp) on a machine's network, packet by packet.
//
//   send     occupies its interface (`nic`, a lane's queue) for the machine's message_cost, and of an eager message a
//            copy; within a node for no time.
//            Then an engine of its node may take the message, after those before it from the interface to the same rank
//            have left the node. It ends when its last byte has left the node.
//   receive  ends when it has been posted, and the message is taken: that is relay_latency after its last packet has
//            arrived, and then occupies the receiver's interface of the sender's number for receive_cost and the copy
//            of an eager message or rendezvous_latency. Puts occupy none. Left out are lane_bandwidth, put_setup and
//            register_latency.
//   calc     occupies its processor.
//
// Noise makes sends, receives, copies within a node and calcs longer.
//
// Messages are sent whether or not a receive is posted, unless the options say that a send waits for it; those of
// `unexpected` bytes or fewer never do. Between ranks
// of one node a message is a copy.
//
// A node that dies at time T is one whose processes or operating system die: its ranks start and end nothing from T on,
// and its engines start no further packet. A message whose last byte left the node before T arrives; others are lost.
// Its router still forwards the packets of others, and takes what is addressed to the node, which is lost: also what is
// sent from T on to a receive that was posted before. A send that waits for its receive waits for ever if that was not
// posted before T.
#pragma once

#include "goal/graph.hpp"
#include "machine/job.hpp"
#include "packet/graph_outcome.hpp"
#include "packet/simulate.hpp"

namespace kumihimo::packet {

// `nodes`: of each rank. Errors: those of run(machine, messages); another number of ranks than of nodes; a node that
// dies and does not exist; where none dies, what never matches, with its rank and operation.
Result<GraphOutcome> run(const Machine& machine, const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                         const PacketOptions& options = {}, Observers observers = {});
// Where messages and software take no time: what is left is that ranks compute and wait for each other, on nodes of
// which some may be slow, or have noise. Errors: those of hosts::nodes_of, and of the noise.
Result<GraphOutcome> run_ideal(const Job& job, const goal::Graphs& graphs, const std::optional<Placement>& placement,
                               const std::optional<goal::NoiseModel>& noise = {}, Observers observers = {});

// Beside other jobs, which run before it starts, too, and until it has ended; without any as above. Times are from its
// start. `traffic` is of all jobs and from the beginning. Errors: as above; those of check(background); recorded graphs
// that take no time, or that never match.
Result<GraphOutcome> run(const Machine& machine, const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                         const Background& background, const PacketOptions& options = {});

} // namespace kumihimo::packet
