#include "mapping_run/scotch.hpp"

#include "mapping/partition/halves.hpp"
#include "mapping/partition/legal.hpp"
#include "mapping_run/scaled.hpp"
#include "mapping_run/scotch_functions.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace kumihimo::mapping_run {
namespace {

using Number = ScotchFunctions::Number;

constexpr int option_deterministic = 0;
constexpr Number quality = 0x1, balance = 0x4, safety = 0x8;
struct Strategy {
  Number flags;
  double imbalance;
};
constexpr std::array all_strategies = {Strategy{0, 1e-4}, Strategy{quality | safety, 1e-4}, Strategy{0, 0.05},
                                       Strategy{quality | safety, 0.01}};

// A context with a random state of its own, one thread, and the graph bound to it.
class BoundGraph {
 public:
  BoundGraph(const ScotchFunctions& scotch, std::uint64_t seed, const ScaledGraph& graph,
             const std::vector<Number>& vertex_weights = {})
      : scotch_(scotch) {
    if (scotch.context_init(context_.get()) != 0) return;
    has_context_ = true;
    scotch.context_option_set_num(context_.get(), option_deterministic, 1);
    scotch.context_random_seed(context_.get(), static_cast<Number>(seed & 0x7fffffff));
    scotch.context_random_reset(context_.get());
    if (scotch.context_thread_spawn(context_.get(), 1, nullptr) != 0) return;
    if (scotch.graph_init(graph_.get()) != 0) return;
    has_graph_ = true;
    const auto vertices = static_cast<Number>(graph.first.size() - 1);
    if (scotch.graph_build(graph_.get(), 0, vertices, graph.first.data(), nullptr,
                           vertex_weights.empty() ? nullptr : vertex_weights.data(), nullptr,
                           static_cast<Number>(graph.to.size()), graph.to.data(), graph.weights.data()) != 0)
      return;
    if (scotch.graph_init(bound_.get()) != 0) return;
    has_bound_ = true;
    is_usable_ = scotch.context_bind_graph(context_.get(), graph_.get(), bound_.get()) == 0;
  }
  ~BoundGraph() {
    if (has_bound_) scotch_.graph_exit(bound_.get());
    if (has_graph_) scotch_.graph_exit(graph_.get());
    if (has_context_) scotch_.context_exit(context_.get());
  }
  BoundGraph(const BoundGraph&) = delete;
  BoundGraph& operator=(const BoundGraph&) = delete;

  bool is_usable() const { return is_usable_; }
  void* get() { return bound_.get(); }

 private:
  const ScotchFunctions& scotch_;
  ScotchObject context_, graph_, bound_;
  bool has_context_ = false, has_graph_ = false, has_bound_ = false, is_usable_ = false;
};

// An architecture or a strategy, ended with its owner.
class Owned {
 public:
  Owned(int (*init)(void*), void (*exit)(void*)) : exit_(exit) { is_usable_ = init(object_.get()) == 0; }
  ~Owned() {
    if (is_usable_) exit_(object_.get());
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  bool is_usable() const { return is_usable_; }
  void* get() { return object_.get(); }

 private:
  ScotchObject object_;
  void (*exit_)(void*);
  bool is_usable_ = false;
};

// The graph with a heavy vertex for each half, to which pulls are edges.
mapping::Graph with_terminals(const mapping::Graph& graph, std::span<const std::int64_t> pull) {
  std::vector<std::pair<std::int32_t, mapping::Graph::Edge>> pairs;
  for (std::int32_t vertex = 0; vertex < graph.ranks(); ++vertex) {
    for (const mapping::Graph::Edge& edge : graph.of(vertex))
      if (edge.to > vertex) pairs.push_back({vertex, edge});
    const std::int64_t bytes = pull[static_cast<std::size_t>(vertex)];
    if (bytes > 0) pairs.push_back({vertex, {graph.ranks(), bytes}});
    if (bytes < 0) pairs.push_back({vertex, {graph.ranks() + 1, -bytes}});
  }
  return mapping::Graph::of_pairs(graph.ranks() + 2, pairs);
}

class Scotch final : public mapping::Partitioner {
 public:
  explicit Scotch(const ScotchFunctions& functions) : scotch_(functions) {}
  std::string_view name() const override { return "Scotch"; }

  Result<std::vector<char>> halve(const mapping::Graph& graph, std::int32_t first, std::span<const std::int64_t> pull,
                                  std::uint64_t seed) override {
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

  std::optional<mapping::Assignment> whole_map(const mapping::Graph& graph, const mapping::Host& host, int strategy,
                                               std::uint64_t seed) override {
    if (strategy < 0 || strategy >= strategies() || !host.metric.has_axes()) return {};
    if (std::max(graph.ranks(), host.metric.nodes()) > most_nodes_of_map) return {};
    const std::vector<JoinedAxis> axes = joined_axes(host.metric.axes());
    std::int32_t most = 0;
    for (std::int32_t node = 0; node < host.metric.nodes(); ++node) most = std::max(most, host.slots.on(NodeId{node}));
    if (axes.size() > most_axes || !are_even(host, most)) return {};

    std::vector<Number> nodes; // of the whole box: those with slots
    std::vector<std::int32_t> node_at(static_cast<std::size_t>(host.metric.axes().places()), -1);
    for (std::int32_t node = 0; node < host.metric.nodes(); ++node) {
      const Number place = place_of(host.metric, axes, node);
      node_at[static_cast<std::size_t>(place)] = node;
      if (host.slots.on(NodeId{node}) > 0) nodes.push_back(place);
    }
    std::sort(nodes.begin(), nodes.end());
    const bool whole = nodes.size() == node_at.size();

    const ScaledGraph scaled(graph, (std::int64_t{1} << 31) / (2 + host.network->diameter()));
    const std::lock_guard alone(one_at_a_time_);
    BoundGraph bound(scotch_, seed, scaled);
    Owned box(scotch_.arch_init, scotch_.arch_exit), some(scotch_.arch_init, scotch_.arch_exit);
    Owned plan(scotch_.strat_init, scotch_.strat_exit);
    std::vector<Number> found(static_cast<std::size_t>(graph.ranks()), -1);
    const auto [flags, imbalance] = all_strategies[static_cast<std::size_t>(strategy)];
    if (!bound.is_usable() || !box.is_usable() || !some.is_usable() || !plan.is_usable() || !build_box(box, axes) ||
        (!whole && scotch_.arch_sub(some.get(), box.get(), static_cast<Number>(nodes.size()), nodes.data()) != 0) ||
        scotch_.strat_graph_map_build(plan.get(), flags, static_cast<Number>(nodes.size()), imbalance) != 0 ||
        scotch_.graph_map(bound.get(), whole ? box.get() : some.get(), plan.get(), found.data()) != 0)
      return {};
    std::vector<std::int32_t> node_of_rank;
    for (const Number target : found) {
      const bool known = target >= 0 && target < static_cast<Number>(nodes.size());
      node_of_rank.push_back(known ? node_at[static_cast<std::size_t>(nodes[static_cast<std::size_t>(target)])] : -1);
    }
    return legal_map(graph, host, node_of_rank);
  }

 private:
  static constexpr std::size_t most_axes = 5;
  // Its time grows with the square of the nodes: 82,944 take minutes, and it cannot be stopped.
  static constexpr std::int32_t most_nodes_of_map = 20'000;

  // Scotch takes up to 5 axes. Two axes of length 2 have the distances of one ring of 4, in the order of a Gray code.
  struct JoinedAxis {
    std::int32_t length = 1, axis = 0, other = -1; // other: joined, both of length 2
    bool wraps = true;
  };

  static std::vector<JoinedAxis> joined_axes(const Shape& shape) {
    std::vector<JoinedAxis> axes;
    for (std::int32_t axis = 0; axis < shape.dimensions(); ++axis) {
      const auto [length, wraps] = shape.axes()[static_cast<std::size_t>(axis)];
      if (length > 1) axes.push_back({length, axis, -1, wraps || length == 2});
    }
    if (axes.empty()) axes.push_back({1, 0, -1, true});
    while (axes.size() > most_axes) {
      const auto is_two = [](const JoinedAxis& each) { return each.length == 2; };
      const auto one = std::find_if(axes.begin(), axes.end(), is_two);
      if (one == axes.end()) break;
      const auto two = std::find_if(one + 1, axes.end(), is_two);
      if (two == axes.end()) break;
      one->length = 4;
      one->other = two->axis;
      axes.erase(two);
    }
    return axes;
  }

  static bool are_even(const mapping::Host& host, std::int32_t most) {
    for (std::int32_t node = 0; node < host.metric.nodes(); ++node)
      if (const std::int32_t slots = host.slots.on(NodeId{node}); slots != 0 && slots != most) return false;
    return true;
  }

  // Scotch's number of a node in the box: its first axis runs fastest.
  static Number place_of(const mapping::Metric& metric, const std::vector<JoinedAxis>& axes, std::int32_t node) {
    Number place = 0, stride = 1;
    for (const JoinedAxis& each : axes) {
      std::int32_t at = metric.coordinate(node, each.axis);
      if (each.other >= 0) {
        const std::int32_t other = metric.coordinate(node, each.other);
        at = at == 0 ? other : 3 - other;
      }
      place += at * stride;
      stride *= each.length;
    }
    return place;
  }

  bool build_box(Owned& box, const std::vector<JoinedAxis>& axes) const {
    std::vector<Number> lengths;
    bool wraps = false;
    for (const JoinedAxis& each : axes)
      lengths.push_back(each.length), wraps = wraps || (each.wraps && each.length > 2);
    const auto build = wraps ? scotch_.arch_torus_x : scotch_.arch_mesh_x;
    return build(box.get(), static_cast<Number>(lengths.size()), lengths.data()) == 0;
  }

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
