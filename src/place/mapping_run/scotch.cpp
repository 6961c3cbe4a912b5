#include "mapping_run/scotch.hpp"

#include "mapping/partition/halves.hpp"
#include "mapping/partition/legal.hpp"
#include "mapping_run/scotch_target.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace kumihimo::mapping_run {
namespace {

using Number = ScotchFunctions::Number;

constexpr Number quality = 0x1, balance = 0x4, safety = 0x8;
struct Strategy {
  Number flags;
  double imbalance;
};
constexpr std::array all_strategies = {Strategy{0, 1e-4}, Strategy{quality | safety, 1e-4}, Strategy{0, 0.05},
                                       Strategy{quality | safety, 0.01}};

// The graph with a heavy vertex for each half, to which pulls are edges.
mapping::TrafficGraph with_terminals(const mapping::TrafficGraph& graph, std::span<const std::int64_t> pull) {
  std::vector<std::pair<std::int32_t, mapping::TrafficGraph::Edge>> pairs;
  for (std::int32_t vertex = 0; vertex < graph.ranks(); ++vertex) {
    for (const mapping::TrafficGraph::Edge& edge : graph.of(vertex))
      if (edge.to > vertex) pairs.push_back({vertex, edge});
    const std::int64_t bytes = pull[static_cast<std::size_t>(vertex)];
    if (bytes > 0) pairs.push_back({vertex, {graph.ranks(), bytes}});
    if (bytes < 0) pairs.push_back({vertex, {graph.ranks() + 1, -bytes}});
  }
  return mapping::TrafficGraph::of_pairs(graph.ranks() + 2, pairs);
}

class Scotch final : public mapping::Partitioner {
 public:
  explicit Scotch(const ScotchFunctions& functions) : scotch_(functions) {}
  std::string_view name() const override { return "Scotch"; }

  Result<std::vector<char>> halve(const mapping::TrafficGraph& graph, std::int32_t first,
                                  std::span<const std::int64_t> pull, std::uint64_t seed) override {
    if (first == 0 || first == graph.ranks())
      return std::vector<char>(static_cast<std::size_t>(graph.ranks()), first == 0 ? 1 : 0);
    const ScaledGraph scaled(with_terminals(graph, pull), std::int64_t{1} << 29);
    const std::lock_guard alone(one_at_a_time_);
    BoundGraph bound(scotch_, seed, scaled);
    Owned arch(scotch_.arch_init, scotch_.arch_exit), strategy(scotch_.strat_init, scotch_.strat_exit);
    const std::array<Number, 2> sizes = {first + 1, graph.ranks() - first + 1};
    std::vector<Number> found(static_cast<std::size_t>(graph.ranks()) + 2, -1);
    found[found.size() - 2] = 0, found.back() = 1;
    if (!bound.is_usable() || !arch.is_usable() || !strategy.is_usable() ||
        scotch_.arch_cmpltw(arch.get(), 2, sizes.data()) != 0 ||
        scotch_.strat_graph_map_build(strategy.get(), balance, 2, 0.01) != 0 ||
        scotch_.graph_map_fixed(bound.get(), arch.get(), strategy.get(), found.data()) != 0)
      return failed("Scotch could not cut the graph");
    std::vector<char> part;
    for (std::int32_t vertex = 0; vertex < graph.ranks(); ++vertex)
      part.push_back(found[static_cast<std::size_t>(vertex)] == 1 ? 1 : 0);
    const mapping::Halving halving{graph, first, pull};
    make_exact(halving, part);
    refine(halving, part);
    return part;
  }

  int strategies() const override { return static_cast<int>(all_strategies.size()); }

  std::optional<mapping::Assignment> whole_map(const mapping::TrafficGraph& graph, const mapping::MappingHost& host,
                                               int strategy, std::uint64_t seed) override {
    if (strategy < 0 || strategy >= strategies()) return {};
    if (std::max(graph.ranks(), host.metric.nodes()) > most_nodes_of_map) return {};
    const ScaledGraph scaled(graph, (std::int64_t{1} << 30) / (2 + host.network->diameter()));
    const std::lock_guard alone(one_at_a_time_);
    ScotchTarget target(scotch_, host);
    if (!target.is_usable()) return {};
    BoundGraph bound(scotch_, seed, scaled);
    Owned plan(scotch_.strat_init, scotch_.strat_exit);
    std::vector<Number> found(static_cast<std::size_t>(graph.ranks()), -1);
    const auto [flags, imbalance] = all_strategies[static_cast<std::size_t>(strategy)];
    if (!bound.is_usable() || !plan.is_usable() ||
        scotch_.strat_graph_map_build(plan.get(), flags, target.nodes(), imbalance) != 0 ||
        scotch_.graph_map(bound.get(), target.arch(), plan.get(), found.data()) != 0)
      return {};
    for (Number& part : found) part = target.node(part);
    return legal_map(graph, host, found);
  }

 private:
  // It cannot be stopped, and its time grows with the square of the nodes, whatever the strategy: of 82,944 one map
  // takes 45 to 50 s (ADR 37).
  static constexpr std::int32_t most_nodes_of_map = 20'000;

  ScotchFunctions scotch_;
  std::mutex one_at_a_time_; // 7.0.3 in several threads gives other cuts from run to run, contexts or not
};

} // namespace

std::unique_ptr<mapping::Partitioner> open_scotch() {
  const std::optional<ScotchFunctions> functions = ScotchFunctions::open();
  if (!functions) return nullptr;
  return std::make_unique<Scotch>(*functions);
}

} // namespace kumihimo::mapping_run
