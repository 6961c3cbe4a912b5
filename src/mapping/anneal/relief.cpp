#include "mapping/anneal/relief.hpp"

#include "mapping/objective/link_loads.hpp"

namespace kumihimo::mapping {

bool relieve(Assignment& map, const Problem& problem, std::int64_t cap, const Annealing&, std::uint64_t, const Tools&) {
  return LinkLoads(problem.traffic, problem.host, map).max() <= cap;
}

void least_link_load(Assignment&, const Problem&, const Annealing&, std::uint64_t, const Tools&) {}

} // namespace kumihimo::mapping
