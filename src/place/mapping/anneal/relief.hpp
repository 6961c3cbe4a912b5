// Relief of the busiest links: the maximum load of a link is lowered at the price of few hop-bytes.
#pragma once

#include "mapping/anneal/annealing.hpp"

namespace kumihimo::mapping {

// Brings the maximum link load to at most `cap` bytes with few hop-bytes, then anneals hop-bytes with all moves refused
// that exceed the cap. True: reached. False: the map has the least maximum found. Deterministic, unless stopped.
bool relieve(Assignment& map, const MappingProblem& problem, std::int64_t cap, const Annealing& annealing,
             std::uint64_t seed, const Tools& tools);

// Minimises the maximum link load, then hop-bytes: caps from the present load down, by halving the interval. Never a
// higher maximum than before.
void least_link_load(Assignment& map, const MappingProblem& problem, const Annealing& annealing, std::uint64_t seed,
                     const Tools& tools);

} // namespace kumihimo::mapping
