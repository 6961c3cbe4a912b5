// How many processes of a factorisation run on each node of a machine whose nodes are unequal. A block-cyclic matrix
// gives equal parts to all processes, so a fast node gets more of them (Shi et al., Cluster'13).
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::lu {

struct NodeProcesses {
  double ratio = 1;           // peak over that of the slowest node
  double beta = 0;            // processes = ratio + beta
  std::int32_t processes = 1; // a divisor of the node's cores
};

// The smallest divisor of the cores that is at least the ratio: beta is 0 or more. Ratios up to `tolerance` above a
// divisor take it, since rates that were measured differ a little: then beta is below 0. It is also where the ratio is
// above the cores. Errors: no nodes; a peak that is not above 0; as many cores as nodes, at least 1.
Result<std::vector<NodeProcesses>> processes_of_nodes(std::span<const double> peaks,
                                                      std::span<const std::int32_t> cores, double tolerance = 0.05);

// How the rule came to its numbers: "nodes 1: 670/202 = 3.32 + 0.68 = 4 processes of 12 cores; nodes 2-5: ...".
std::string described(std::span<const double> peaks, std::span<const std::int32_t> cores,
                      std::span<const NodeProcesses> found);

// P x Q with P <= Q and P as large as possible.
std::pair<std::int32_t, std::int32_t> usual_grid(std::int32_t processes);

} // namespace kumihimo::lu
