// Proved lower bounds: what no placement can go below. A user sees by them when to stop, and the search stops there.
//
// Each bound is a number of hop-bytes below or equal to those of every placement. The numbers are integers; where one
// comes from floating-point arithmetic, it is lowered by more than the rounding errors first (uniform_flow.hpp).
// Division by the same number of bytes keeps the order, so a computed average is never below a bound. Bounds
// of a graph that was weighed are lowered by what the rounding of its bytes may add.
//
// Sources: stars: Gilmore, "Optimal and suboptimal algorithms for the quadratic assignment problem", 1962. Cuts and
// flows: Leighton, Rao, J. ACM 46 (1999). Distances of rings as sums of cuts: Deza, Laurent, "Geometry of Cuts and
// Metrics", 1997.
#pragma once

#include "mapping/lattice/lattice.hpp"
#include "mapping/search/problem.hpp"
#include "mapping/search/tools.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kumihimo::mapping {

struct HopBound {
  std::string name;        // "star", "cuts", "parity", "exhaustive"
  double average_hops = 0; // hop-bytes over problem.traffic.bytes()
  std::string why;         // one line for users
};

// The highest first; never empty. `terms`: about how many edges may be looked at; the star and what it needs are always
// computed. Deterministic, unless stopped: then some may be missing.
std::vector<HopBound> hop_bounds(const MappingProblem& problem, std::span<const Lattice> lattices, std::int64_t terms,
                                 const Tools& tools);

struct LinkBound {
  std::string name;       // "links", "ports", "cut"
  std::int64_t bytes = 0; // some directed link carries at least so many
  std::string why;
};

// The highest first; never empty. O(flows + links), and about `terms` edges looked at for "cut".
// `best_average_hops_bound`: the highest of hop_bounds. Stopped: without "cut".
std::vector<LinkBound> link_bounds(const MappingProblem& problem, double best_average_hops_bound, std::int64_t terms,
                                   const Tools& tools);

} // namespace kumihimo::mapping
