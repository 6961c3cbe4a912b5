// The numbers of a machine file as parameters of LogGOPS, and the rates of a rank's own work.
#pragma once

#include "goal/machine_rates.hpp"
#include "loggp/parameters.hpp"
#include "machine/job.hpp"

namespace kumihimo::loggp {

struct MachineParameters {
  LogGopsParameters parameters;
  goal::WorkRates rates;
  double hops = 0; // of a message between two nodes, on average
};

// Between nodes:
//   o   half of message_cost + relay_latency + receive_cost: the software's part of a message, at both ends alike
//   L   the hop latencies of a route on average, over all pairs of nodes, or those of 64 nodes with 256 each
//   g   message_cost
//   G   a byte on the slowest of: the slowest link of a route, on average over these pairs; an engine; the rank's
//       share of the node's injection
//   O   0: engines move the bytes; copies of eager messages are left out, and what puts and one-engine lanes change
//   S   eager_bytes; none: no limit
//   R   rendezvous_latency; none: 0
// so that a message of a byte takes as long as in the models flow and exact at that distance. A rank has as many
// interfaces as its share of the node's engines, at least one, and a processor for each of them beside the one that
// reduces: a message holds up its lane, not the reductions of others. On a single node a message is a copy of the
// receiver: L is shared_memory_latency, G and O are a byte at shared_memory_bandwidth, o and g are 0. With more ranks
// than cores, and the section [copies], they share the cores. What the section [loggops] of a machine file states
// replaces these; with it O is 0 unless it is stated. Rates are those of goal/machine_rates.hpp.
MachineParameters parameters_of(const Job& job, bool scalar_reduction = false);

} // namespace kumihimo::loggp
