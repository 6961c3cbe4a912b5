#include "mapping/bounds/best_flow.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kumihimo::mapping {
namespace {

// The least bytes of a cut over the pairs that it separates, among cuts between low and high ranks: an upper bound of
// the uniform flow, in one pass.
double sparsest_of_numbers(const TrafficGraph& graph) {
  double sparsest = HUGE_VAL;
  std::int64_t bytes = 0;
  const std::int64_t ranks = graph.ranks();
  for (std::int32_t rank = 0; rank + 1 < ranks; ++rank) {
    for (const TrafficGraph::Edge& edge : graph.of(rank)) bytes += edge.to > rank ? edge.bytes : -edge.bytes;
    const std::int64_t pairs = (rank + std::int64_t{1}) * (ranks - rank - 1);
    sparsest = std::min(sparsest, static_cast<double>(bytes) / static_cast<double>(pairs));
  }
  return sparsest;
}

} // namespace

std::int64_t common_divisor(const TrafficGraph& graph) {
  std::int64_t divisor = 0;
  for (const TrafficGraph::Edge& edge : graph.edges) divisor = std::gcd(divisor, edge.bytes);
  return std::max<std::int64_t>(1, divisor);
}

double best_flow(const MappingProblem& problem, std::span<const Lattice> lattices, FlowLimits limits,
                 const Tools& tools) {
  const TrafficGraph& graph = problem.graph;
  if (sparsest_of_numbers(graph) <= limits.useless) return 0;
  std::vector<Renumbering> exact = symmetries_of_numbers(graph, problem.grid, limits.terms, tools);
  std::vector<std::vector<Renumbering>> attempts;
  for (const Lattice& lattice : lattices) {
    std::vector<Renumbering> steps = steps_of(lattice);
    if (std::all_of(steps.begin(), steps.end(), [&](const Renumbering& step) { return is_symmetry(graph, step); }))
      exact.insert(exact.end(), steps.begin(), steps.end());
    else
      attempts.push_back(std::move(steps));
  }
  attempts.insert(attempts.begin(), std::move(exact));
  double best = 0;
  for (const std::vector<Renumbering>& renumberings : attempts) {
    if (tools.stop()) break;
    best = std::max(best, uniform_flow(symmetric_part(graph, renumberings), limits, tools));
    limits.useless = std::max(limits.useless, best);
  }
  return best;
}

} // namespace kumihimo::mapping
