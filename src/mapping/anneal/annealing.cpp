#include "mapping/anneal/annealing.hpp"

#include "mapping/objective/hop_bytes.hpp"

namespace kumihimo::mapping {

void anneal(Assignment& map, const Problem& problem, const Annealing& annealing, std::uint64_t seed,
            const Tools& tools) {
  Random random(seed);
  std::int64_t terms = annealing.terms;
  problem.host.metric.visit([&](const auto& hops) {
    while (terms > 0 && !tools.stop()) {
      const auto rank = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(map.ranks())));
      const auto slot = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(map.slots())));
      if (hop_bytes_added(problem.graph, problem.host, map, rank, slot, hops) < 0) map.exchange(rank, slot);
      terms -= static_cast<std::int64_t>(4 * problem.graph.degree(rank) + 4);
    }
  });
}

} // namespace kumihimo::mapping
