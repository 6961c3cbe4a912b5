// The largest uniform flow of a graph that its symmetries and lattices lead to.
#pragma once

#include "mapping/bounds/uniform_flow.hpp"
#include "mapping/lattice/lattice.hpp"
#include "mapping/search/problem.hpp"

#include <span>

namespace kumihimo::mapping {

// Uses the exact symmetries at once, and then each lattice that the graph has but nearly. 0: none that is of use.
double best_flow(const MappingProblem& problem, std::span<const Lattice> lattices, FlowLimits limits,
                 const Tools& tools);

// All edges, and so all cuts and hop-bytes, have a multiple of so many bytes.
std::int64_t common_divisor(const TrafficGraph& graph);

} // namespace kumihimo::mapping
