#include "mapping/anneal/relief.hpp"

#include "mapping/anneal/chain.hpp"
#include "mapping/objective/hop_bytes.hpp"

#include <algorithm>
#include <optional>

namespace kumihimo::mapping {
namespace {

constexpr int rounds_of_price = 32; // each dearer than the one before
constexpr double dearer = 1.6;
constexpr int capped_segments = 8;
constexpr int steps_of_search = 8;

// Result of a chain.
struct Relieved {
  std::optional<Assignment> map;
  std::int64_t max = 0, hop_bytes = 0;
};

bool is_better(const Relieved& a, const Relieved& b, std::int64_t cap) {
  if (!a.map || !b.map) return a.map.has_value();
  if ((a.max <= cap) != (b.max <= cap)) return a.max <= cap;
  if (a.max > cap && a.max != b.max) return a.max < b.max;
  return a.hop_bytes < b.hop_bytes;
}

// Half of the terms to come below the cap, the rest to lower hop-bytes under it.
Relieved relieved(const Assignment& start, const MappingProblem& problem, const Nearby& nearby, std::int64_t cap,
                  const Annealing& annealing, std::int64_t terms, std::uint64_t seed, const Tools& tools) {
  const std::unique_ptr<Chain> chain = Chain::make(problem, nearby, start, seed);
  chain->heat(annealing.hot);
  LinkGuard guard(problem.traffic, problem.host, start, cap);
  chain->set_guard(&guard);
  Relieved best{start, guard.max(), chain->hop_bytes()};
  const auto keep = [&] {
    const Relieved now{chain->map(), guard.max(), chain->hop_bytes()};
    if (is_better(now, best, cap)) best = now;
  };
  guard.price = 1;
  for (int round = 0; round < rounds_of_price && !guard.holds() && !tools.stop(); ++round, guard.price *= dearer) {
    guard.list_busy_ranks(chain->map());
    const double share = 1.0 / rounds_of_price;
    chain->cool(round * share, (round + 1) * share, terms / 2 / rounds_of_price, tools.stop);
    keep();
  }
  if (!guard.holds()) return best;
  guard.price = 0;
  guard.list_busy_ranks(chain->map());
  chain->heat(annealing.hot);
  for (int segment = 0; segment < capped_segments && !tools.stop(); ++segment) {
    const double share = 1.0 / capped_segments;
    chain->cool(segment * share, (segment + 1) * share, terms * 2 / 5 / capped_segments, tools.stop);
  }
  chain->descend(terms / 10, tools.stop);
  keep();
  return best;
}

} // namespace

bool relieve(Assignment& map, const MappingProblem& problem, std::int64_t cap, const Annealing& annealing,
             std::uint64_t seed, const Tools& tools) {
  const Nearby nearby(problem.host);
  const int chains = std::max(1, annealing.chains);
  std::vector<Relieved> ends(static_cast<std::size_t>(chains));
  Random seeds(seed);
  std::vector<std::uint64_t> seed_of_chain;
  for (int chain = 0; chain < chains; ++chain) seed_of_chain.push_back(seeds.next());
  tools.report({"relieving links", 0});
  tools.parallel(chains, [&](int chain) {
    const auto at = static_cast<std::size_t>(chain);
    ends[at] = relieved(map, problem, nearby, cap, annealing, annealing.terms / chains, seed_of_chain[at], tools);
  });
  std::size_t best = 0;
  for (std::size_t at = 1; at < ends.size(); ++at)
    if (is_better(ends[at], ends[best], cap)) best = at;
  map = *std::move(ends[best].map);
  return ends[best].max <= cap;
}

void least_link_load(Assignment& map, const MappingProblem& problem, const Annealing& annealing, std::uint64_t seed,
                     const Tools& tools) {
  Annealing step = annealing;
  step.terms /= steps_of_search;
  Random seeds(seed);
  std::int64_t high = LinkLoads(problem.traffic, problem.host, map).max(), low = high / 4;
  for (int round = 0; round < steps_of_search && low + 1 < high && !tools.stop(); ++round) {
    const std::int64_t cap = low + (high - low) / 2;
    Assignment tried = map;
    if (!relieve(tried, problem, cap, step, seeds.next(), tools)) low = cap;
    const std::int64_t max = LinkLoads(problem.traffic, problem.host, tried).max();
    if (max < high) high = max, map = std::move(tried);
  }
}

} // namespace kumihimo::mapping
