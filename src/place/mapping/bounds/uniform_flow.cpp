#include "mapping/bounds/uniform_flow.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
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
    return std::span(graph_.arcs)
        .subspan(first, static_cast<std::size_t>(graph_.first[static_cast<std::size_t>(rank) + 1]) - first);
  }
  double bytes_of(const SymmetricPart::Arc& arc) const {
    return static_cast<double>(graph_.orbits[static_cast<std::size_t>(arc.orbit)].bytes);
  }

  template <class Work>
  void each_nearer(std::int32_t rank, const std::vector<std::int64_t>& length, const Work& work) const {
    const std::int64_t distance = distance_[static_cast<std::size_t>(rank)];
    for (const SymmetricPart::Arc& arc : arcs(rank))
      if (distance_[static_cast<std::size_t>(arc.to)] + length[static_cast<std::size_t>(arc.orbit)] == distance)
        work(arc);
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
  for (const double wish : wished)
    all.push_back(static_cast<std::int64_t>(std::min(longest, std::round(wish / shortest * unit))));
  return all;
}

// Several sets of routes, each with a share of the flow, and the shares that make the fullest edge least full: a smooth
// form of that is lowered by moving shares from one set to another (pairwise Frank-Wolfe steps).
class Mixture {
 public:
  // once: how full each orbit's edges are under the new routes alone.
  void add(std::vector<double> once, double sharpness) {
    shares_.push_back(sets_.empty() ? 1 : 0);
    sets_.push_back(std::move(once));
    mix();
    for (int step = 0; step < 40 && sets_.size() > 1; ++step)
      if (!improve(sharpness)) break;
    mix();
  }
  const std::vector<double>& fullness() const { return mixed_; }
  double fullest() const { return *std::max_element(mixed_.begin(), mixed_.end()); }

 private:
  void mix() {
    const double all = std::accumulate(shares_.begin(), shares_.end(), 0.0);
    mixed_.assign(sets_.front().size(), 0);
    for (std::size_t set = 0; set < sets_.size(); ++set)
      if (shares_[set] > 0)
        for (std::size_t orbit = 0; orbit < mixed_.size(); ++orbit)
          mixed_[orbit] += shares_[set] / all * sets_[set][orbit];
  }

  bool improve(double sharpness) {
    const double fullest = this->fullest();
    std::vector<double> price;
    for (const double full : mixed_) price.push_back(std::exp(sharpness * (full / fullest - 1)));
    std::size_t best = 0, worst = 0;
    double least = std::numeric_limits<double>::infinity(), most = -1;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      const double cost = std::inner_product(price.begin(), price.end(), sets_[set].begin(), 0.0);
      if (cost < least) least = cost, best = set;
      if (shares_[set] > 0 && cost > most) most = cost, worst = set;
    }
    if (most - least <= 1e-6 * most || best == worst) return false;
    // Where moving more no longer lowers the smooth maximum.
    double low = 0, high = shares_[worst];
    for (int halving = 0; halving < 14; ++halving) {
      const double middle = halving == 0 ? high : (low + high) / 2;
      double slope = 0;
      for (std::size_t orbit = 0; orbit < mixed_.size(); ++orbit) {
        const double change = sets_[best][orbit] - sets_[worst][orbit];
        slope += change * std::exp(std::min(600.0, sharpness * ((mixed_[orbit] + middle * change) / fullest - 1)));
      }
      if (slope < 0) {
        low = middle;
        if (halving == 0) break;
      } else {
        high = middle;
      }
    }
    if (low <= 0) return false;
    const bool all = low >= shares_[worst];
    shares_[best] += low;
    shares_[worst] = all ? 0 : shares_[worst] - low;
    for (std::size_t orbit = 0; orbit < mixed_.size(); ++orbit)
      mixed_[orbit] += low * (sets_[best][orbit] - sets_[worst][orbit]);
    return true;
  }

  std::vector<std::vector<double>> sets_;
  std::vector<double> shares_, mixed_;
};

} // namespace

double uniform_flow(const SymmetricPart& graph, const FlowLimits& limits, const Tools& tools) {
  if (graph.orbits.empty()) return 0;
  Router router(graph);
  Mixture mixture;
  const std::size_t orbits = graph.orbits.size();
  const std::int64_t cost = static_cast<std::int64_t>(graph.sources.size()) *
                            (3 * static_cast<std::int64_t>(graph.arcs.size()) + 8 * graph.ranks());
  std::vector<double> once(orbits), fullness(orbits, 0);
  double best = 0, at_most = std::numeric_limits<double>::infinity(), sharpness = 0; // 0: all routes by bytes alone
  std::int64_t terms = limits.terms;
  int last_gain = 0;
  for (int round = 1; terms >= cost && round <= last_gain + 12 && !tools.stop(); ++round, terms -= cost) {
    const std::vector<std::int64_t> length = lengths(graph, fullness, sharpness);
    std::fill(once.begin(), once.end(), 0);
    double distances = 0, volume = 0;
    for (const SymmetricPart::Source& source : graph.sources) {
      // Half a unit each way is one a pair.
      const auto ranks = static_cast<double>(source.ranks);
      distances += ranks / 2 * router.add(source.rank, ranks / 2, length, once);
      if (!std::isfinite(distances)) return 0;
    }
    for (std::size_t orbit = 0; orbit < orbits; ++orbit) {
      const auto& [bytes, edges] = graph.orbits[orbit];
      const double capacity = static_cast<double>(bytes) * static_cast<double>(edges);
      volume += capacity * static_cast<double>(length[orbit]);
      once[orbit] /= capacity;
    }
    sharpness = round == 1 ? 2 : std::min(400.0, sharpness * 1.2);
    mixture.add(once, sharpness);
    fullness = mixture.fullness();
    const double flow = 1 / mixture.fullest();
    if (flow > best * 1.0005) last_gain = round;
    best = std::max(best, flow);
    at_most = std::min(at_most, volume / distances); // the dual: no flow is larger
    if (best >= limits.good_enough * at_most || at_most <= limits.useless) break;
  }
  const double operations = 3 * static_cast<double>(limits.terms - terms + cost);
  return best > limits.useless ? best * (1 - operations * 0x1p-52 - 0x1p-40) : 0;
}

} // namespace kumihimo::mapping
