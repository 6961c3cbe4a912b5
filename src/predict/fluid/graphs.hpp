// Graphs of operations (goal/graph.hpp) on a machine's network whose messages share links as fluids.
//
//   send     occupies its interface for the machine's message_cost, and of an eager message a copy; between ranks of a
//            node for no time. Then it flows, after those before it from the interface to the same rank have left. It
//            ends when its last byte has left.
//   receive  ends when it has been posted, and the message has arrived and is taken: the hops of the way and the
//            machine's relay_latency after the last byte has left. Then it occupies the receiver's interface of the
//            sender's number for receive_cost, and a copy of an eager message or rendezvous_latency. Puts occupy none.
//   calc     occupies its processor.
//
// Noise makes longer what occupies an interface or a processor.
//
// Messages are sent whether or not a receive is posted, unless the options say that a send waits for it. A node that
// dies loses what has not left it whole. The longest message says which caches copies within a node are in.
//
// Messages of programs with concurrent lanes are puts. What else a call or a program decides is left out (eager_peers,
// put_setup, register_latency, and of sums all but reduction_rate); programs by themselves have it all
// (simulate/models.hpp).
#pragma once

#include "fluid/options.hpp"
#include "machine/job.hpp"

namespace kumihimo::fluid {

struct ClassUse { // of links
  std::string name;
  std::int64_t links = 0;
  double mean = 0, most = 0; // bytes by what the links could have carried until the end: of all, of the busiest one
};

struct FluidOutcome : hosts::Outcome {
  std::uint64_t messages = 0;
  std::vector<ClassUse> classes;
};

// `placement`: none for block order. Errors: those of simulation::NetworkPaths::make; a node that dies and does not
// exist; where none dies, what never matches, with its rank and operation.
Result<FluidOutcome> run(const Job& job, const goal::Graphs& graphs, const std::optional<Placement>& placement,
                         const FluidOptions& options = {}, hosts::Observers observers = {});

} // namespace kumihimo::fluid
