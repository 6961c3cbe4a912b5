// What a job has of a machine: nodes with the network between them, and slots for its ranks on each. A part of a
// machine is itself a machine (Machine::with_shape, with_box, without); a job adds how many ranks each node has.
#pragma once

#include "machine/machine.hpp"
#include "placement/placement.hpp"

#include <vector>

namespace kumihimo {

struct Job {
  Machine machine; // the nodes that the job sees, and its network
  Slots slots;     // of these nodes; a node of none belongs to others, and passes messages on

  // All nodes, with the machine's default ranks per node.
  Job(Machine all); // NOLINT: a machine is what a job on all of it sees
  // With this many ranks on each node, which may be more than it has cores. Errors: fewer than 1, more than 2^31-1
  // ranks over all nodes.
  static Result<Job> with_ranks_per_node(Machine machine, std::int64_t ranks);
  // With the number of ranks of each node, in the nodes' order. Errors: another number of nodes; no rank at all; more
  // than 2^31-1 ranks.
  static Result<Job> with_node_sizes(Machine machine, const std::vector<std::int32_t>& sizes);

  // What the ranks of a communicator see: in block order the shape and the levels of nodes and cores, in another one
  // what Placement::rank_space says. Levels of cores only where no two ranks share a core.
  RankSpace rank_space() const;
  RankSpace rank_space(const Placement& placement) const;
  // Of a single node's cores, by slots; none where there are more slots than cores.
  const std::vector<Level>& levels() const;

 private:
  Job(Machine part, Slots of_part) : machine(std::move(part)), slots(std::move(of_part)) {}
};

} // namespace kumihimo
