#include "mapping/bounds/uniform_flow.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

namespace kumihimo::mapping {
namespace {

// One set of routes: all shortest ones by these lengths. Flow divides at each rank among the edges that come from
// nearer ones, as their bytes.
class Router {
 public:
  explicit Router(const SymmetricPart& graph) : graph_(graph) {
    const auto ranks = static_cast<std::size_t>(graph.ranks());
    distance_.resize(ranks);
    flow_.resize(ranks);
  }

  // Adds to load, by orbit, what a unit from the source to each other rank carries, all edges of the orbit together.
  // The sum of all distances; infinite if the graph is in parts.
  double add(std::int32_t source, double unit, const std::vector<std::int64_t>& length, std::vector<double>& load) {
    find_distances(source, length);
    if (static_cast<std::int32_t>(order_.size()) < graph_.ranks()) return std::numeric_limits<double>::infinity();
    std::fill(flow_.begin(), flow_.end(), unit);
    double sum = 0;
    for (std::size_t at = order_.size(); at-- > 1;) {
      const std::int32_t rank = order_[at];
      const std::int64_t distance = distance_[static_cast<std::size_t>(rank)];
      sum += static_cast<double>(distance);
      double bytes = 0;
      each_nearer(rank, length, [&](const SymmetricPart::Arc& arc) { bytes += bytes_of(arc); });
      const double flow = flow_[static_cast<std::size_t>(rank)] / bytes;
      each_nearer(rank, length, [&](const SymmetricPart::Arc& arc) {
        const double share = flow * bytes_of(arc);
        load[static_cast<std::size_t>(arc.orbit)] += share;
        flow_[static_cast<std::size_t>(arc.to)] += share;
      });
    }
    return sum;
  }

 private:
  std::span<const SymmetricPart::Arc> arcs(std::int32_t rank) const {
    const auto first = static_cast<std::size_t>(graph_.first[static_cast<std::size_t>(rank)]);
    return std::span(graph_.arcs).subspan(first, static_cast<std::size_t>(graph_.first[static_cast<std::size_t>(rank) + 1]) - first);
  }
  double bytes_of(const SymmetricPart::Arc& arc) const {
    return static_cast<double>(graph_.orbits[static_cast<std::size_t>(arc.orbit)].bytes);
  }

  template <class Work>
  void each_nearer(std::int32_t rank, const std::vector<std::int64_t>& length, const Work& work) const {
    const std::int64_t distance = distance_[static_cast<std::size_t>(rank)];
    for (const SymmetricPart::Arc& arc : arcs(rank))
      if (distance_[static_cast<std::size_t>(arc.to)] + length[static_cast<std::size_t>(arc.orbit)] == distance) work(arc);
  }

  // Dijkstra; order_: the ranks, nearest first.
  void find_distances(std::int32_t source, const std::vector<std::int64_t>& length) {
    std::fill(distance_.begin(), distance_.end(), std::numeric_limits<std::int64_t>::max());
    order_.clear();
    distance_[static_cast<std::size_t>(source)] = 0;
    queue_.push({0, source});
    while (!queue_.empty()) {
      const auto [distance, rank] = queue_.top();
      queue_.pop();
      if (distance > distance_[static_cast<std::size_t>(rank)]) continue;
      order_.push_back(rank);
      for (const SymmetricPart::Arc& arc : arcs(rank)) {
        const std::int64_t further = distance + length[static_cast<std::size_t>(arc.orbit)];
        if (further >= distance_[static_cast<std::size_t>(arc.to)]) continue;
        distance_[static_cast<std::size_t>(arc.to)] = further;
        queue_.push({further, arc.to});
      }
    }
  }

  using Entry = std::pair<std::int64_t, std::int32_t>;
  const SymmetricPart& graph_;
  std::vector<std::int64_t> distance_;
  std::vector<double> flow_;
  std::vector<std::int32_t> order_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

// Lengths that are the longer, the fuller an edge has been so far; integers, so that equally long routes are seen.
std::vector<std::int64_t> lengths(const SymmetricPart& graph, const std::vector<double>& fullness, double sharpness) {
  constexpr double unit = 32, longest = 1 << 26;
  const double fullest = std::max(1e-300, *std::max_element(fullness.begin(), fullness.end()));
  std::vector<double> wished;
  for (std::size_t orbit = 0; orbit < fullness.size(); ++orbit)
    wished.push_back(std::exp(sharpness * (fullness[orbit] / fullest - 1)) /
                     static_cast<double>(graph.orbits[orbit].bytes));
  const double shortest = *std::min_element(wished.begin(), wished.end());
  std::vector<std::int64_t> all;
  for (const double wish : wished) all.push_back(static_cast<std::int64_t>(std::min(longest, std::round(wish / shortest * unit))));
  return all;
}

} // namespace

double uniform_flow(const SymmetricPart& graph, const FlowLimits& limits, const Tools& tools) {
  if (graph.orbits.empty()) return 0;
  Router router(graph);
  const std::size_t orbits = graph.orbits.size();
  const std::int64_t cost = static_cast<std::int64_t>(graph.sources.size()) *
                            (3 * static_cast<std::int64_t>(graph.arcs.size()) + 8 * graph.ranks());
  std::vector<double> load(orbits, 0), fullness(orbits, 0), once(orbits);
  double best = 0, at_most = std::numeric_limits<double>::infinity(), weights = 0;
  std::int64_t terms = limits.terms;
  for (int round = 1; terms >= cost && round <= 200 && !tools.stop(); ++round, terms -= cost) {
    const std::vector<std::int64_t> length = lengths(graph, fullness, round == 1 ? 0 : 4 + round);
    std::fill(once.begin(), once.end(), 0);
    double distances = 0, volume = 0;
    for (const SymmetricPart::Source& source : graph.sources) {
      // Half a unit each way is one a pair.
      distances += static_cast<double>(source.ranks) * router.add(source.rank, 0.5 * static_cast<double>(source.ranks), length, once) / 2;
      if (!std::isfinite(distances)) return 0;
    }
    const double weight = round;
    weights += weight;
    double fullest = 0;
    for (std::size_t orbit = 0; orbit < orbits; ++orbit) {
      const auto& [bytes, edges] = graph.orbits[orbit];
      const double capacity = static_cast<double>(bytes) * static_cast<double>(edges);
      volume += capacity * static_cast<double>(length[orbit]);
      load[orbit] += weight * once[orbit];
      fullness[orbit] = load[orbit] / weights / capacity;
      fullest = std::max(fullest, fullness[orbit]);
    }
    best = std::max(best, 1 / fullest);
    at_most = std::min(at_most, volume / distances); // the dual: no flow is larger
    if (best >= limits.good_enough * at_most || at_most <= limits.useless) break;
  }
  const double operations = 3 * static_cast<double>(limits.terms - terms + cost);
  return best > limits.useless ? best * (1 - operations * 0x1p-52 - 0x1p-40) : 0;
}

} // namespace kumihimo::mapping
