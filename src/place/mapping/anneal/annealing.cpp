#include "mapping/anneal/annealing.hpp"

#include "mapping/anneal/chain.hpp"
#include "mapping/objective/hop_bytes.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::mapping {
namespace {

constexpr int segments = 16;
constexpr double share_of_descent = 0.05;

using Chains = std::vector<std::unique_ptr<Chain>>;

std::vector<std::size_t> best_first(const Chains& chains) {
  std::vector<std::size_t> order(chains.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return chains[a]->hop_bytes() < chains[b]->hop_bytes(); });
  return order;
}

// The worse half goes on from the maps of the better half.
void drop_worse_half(Chains& chains) {
  const std::vector<std::size_t> order = best_first(chains);
  for (std::size_t better = 0, worse = order.size() - 1; better < worse; ++better, --worse)
    chains[order[worse]]->restart_from(*chains[order[better]]);
}

SearchProgress progress_of(const Chains& chains, const MappingProblem& problem, int segment) {
  SearchProgress progress{"annealing", static_cast<double>(segment) / segments};
  const Chain& best = *chains[best_first(chains).front()];
  progress.average_hops = static_cast<double>(best.hop_bytes()) / static_cast<double>(problem.graph.bytes());
  return progress;
}

} // namespace

void anneal(Assignment& map, const MappingProblem& problem, const Annealing& annealing, std::uint64_t seed,
            const Tools& tools) {
  const Nearby nearby(problem.host);
  const int count = std::max(1, annealing.chains);
  Chains chains(static_cast<std::size_t>(count));
  const std::int64_t terms = annealing.terms / count;
  const auto descent = static_cast<std::int64_t>(share_of_descent * static_cast<double>(terms));
  Random seeds(seed);
  std::vector<std::uint64_t> seed_of_chain;
  for (int chain = 0; chain < count; ++chain) seed_of_chain.push_back(seeds.next());
  for (int segment = 0; segment < segments && !tools.stop(); ++segment) {
    tools.parallel(count, [&](int part) {
      std::unique_ptr<Chain>& chain = chains[static_cast<std::size_t>(part)];
      if (segment == 0) {
        chain = Chain::make(problem, nearby, map, seed_of_chain[static_cast<std::size_t>(part)]);
        chain->heat(annealing.hot);
      }
      chain->cool(static_cast<double>(segment) / segments, static_cast<double>(segment + 1) / segments,
                  (terms - descent) / segments, tools.stop);
      if (segment == segments - 1) chain->descend(descent, tools.stop);
    });
    if (segment == segments / 2 || segment == segments * 3 / 4) drop_worse_half(chains);
    tools.report(progress_of(chains, problem, segment + 1));
  }
  if (!chains.front()) return;
  const Chain& best = *chains[best_first(chains).front()];
  if (best.hop_bytes() < hop_bytes(problem.graph, problem.host, map)) map = best.map();
}

} // namespace kumihimo::mapping
