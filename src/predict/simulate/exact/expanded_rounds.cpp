#include "simulate/exact/expanded_rounds.hpp"

#include "program/round_graph.hpp"

#include <limits>

namespace kumihimo::simulation {

std::vector<ExpandedRound> expand(const Lane& lane) {
  const auto graph = round_graph(lane, std::numeric_limits<std::int32_t>::max());
  std::vector<ExpandedRound> rounds(graph.value().vertices.size());
  std::int32_t offloads = 0;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const auto& [round, values] = graph->vertices[r];
    if (!round) continue;
    for (const Step& step : round->steps)
      rounds[r].steps.push_back({&step, &round->gap, values, step.kind == StepKind::offload ? offloads++ : -1});
  }
  for (const auto& [from, to] : graph->edges) {
    rounds[from].next.push_back(to);
    ++rounds[to].waits_for;
  }
  return rounds;
}

} // namespace kumihimo::simulation
