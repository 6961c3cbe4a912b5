// Simulated annealing of hop-bytes (Kirkpatrick, Gelatt, Vecchi, Science 220, 1983): exchanges of ranks, and moves into
// free slots.
#pragma once

#include "mapping/search/problem.hpp"
#include "mapping/search/tools.hpp"

namespace kumihimo::mapping {

// How long and how hot. Work is counted in terms: distances looked up, or steps that cost as much. They are not
// seconds, so that the result is the same on every machine.
struct Annealing {
  std::int64_t terms = 300'000'000; // of all chains together
  int chains = 2;                   // that start from the same map with seeds of their own; the best one is kept
  double hot = 0.3;                 // share of uphill proposals accepted at first. 0.02 keeps the structure of a start
};

// Never more hop-bytes than before. The same result on any number of threads, unless stopped.
void anneal(Assignment& map, const MappingProblem& problem, const Annealing& annealing, std::uint64_t seed,
            const Tools& tools);

} // namespace kumihimo::mapping
