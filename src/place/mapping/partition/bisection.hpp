// Recursive bisection of the ranks together with the network: ranks of one half of the graph go to one half of the
// slots, and so on down to single nodes. A library does the cutting.
// Source: RMATT (Imamura, Yokokawa et al.); terminals: Dunlop and Kernighan, A Procedure for Placement of Standard-Cell
// VLSI Circuits, IEEE TCAD 4 (1985).
#pragma once

#include "mapping/partition/partitioner.hpp"
#include "mapping/search/tools.hpp"

namespace kumihimo::mapping {

struct BisectOptions {
  std::uint64_t seed = 1;
};

// Each rank gets a slot of its own; spare slots are spread. Ranks are pulled towards the half that is nearer to their
// placed neighbours. Where the partitioner fails, the greedy one cuts instead.
// When stopped, what is left is placed in order. O(levels x cost of a cut). Deterministic for the seed.
Assignment bisect(const MappingProblem& problem, Partitioner& partitioner, const BisectOptions& options,
                  const Tools& tools);

} // namespace kumihimo::mapping
