#include "mapping/partition/bisection.hpp"

#include "mapping/partition/domain.hpp"
#include "mapping/partition/greedy.hpp"
#include "mapping/partition/halves.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo::mapping {
namespace {

constexpr std::size_t least_ranks_for_library = 24; // below, the greedy cutter is as good

std::size_t as_index(std::int32_t number) { return static_cast<std::size_t>(number); }

// Where ranks are while a level is cut: their domain, their place in it, and a node in its middle.
struct Whereabouts {
  std::vector<std::int32_t> domain, place, middle;
};

class Bisection {
 public:
  Bisection(const MappingProblem& problem, Partitioner& partitioner, const BisectOptions& options, const Tools& tools)
      : graph_(problem.graph), host_(problem.host), partitioner_(partitioner), options_(options), tools_(tools),
        greedy_(greedy_partitioner()), slot_of_rank_(as_index(problem.graph.ranks()), -1) {}

  Assignment run() {
    Domain all;
    for (std::int32_t slot = 0; slot < host_.size(); ++slot) all.slots.push_back(slot);
    for (std::int32_t rank = 0; rank < graph_.ranks(); ++rank) all.ranks.push_back(rank);
    std::vector<Domain> level = {std::move(all)};
    for (int depth = 0; !level.empty(); ++depth) {
      tools_.report({"bisection", 1 - 1.0 / (1 + depth)});
      level = next_level(std::move(level), depth);
    }
    return Assignment::of_slots(std::move(slot_of_rank_), host_.size());
  }

 private:
  using Halves = std::pair<Domain, Domain>;

  std::vector<Domain> next_level(std::vector<Domain> level, int depth) {
    const Whereabouts where = whereabouts(level);
    const int parts = static_cast<int>(std::min<std::size_t>(level.size(), 64));
    std::vector<Halves> halves(level.size());
    tools_.parallel(parts, [&](int part) {
      for (auto at = static_cast<std::size_t>(part); at < level.size(); at += static_cast<std::size_t>(parts))
        if (tools_.stop())
          halves[at].first = std::move(level[at]); // is placed in order
        else
          halves[at] = halves_of(std::move(level[at]), where, depth, static_cast<std::int32_t>(at));
    });
    std::vector<Domain> next;
    for (auto& [zero, one] : halves)
      for (Domain* domain : {&zero, &one}) {
        if (domain->ranks.empty()) continue;
        if (domain->ranks.size() > 1 && !domain->is_one_node(host_) && !tools_.stop())
          next.push_back(std::move(*domain));
        else
          place_in_order(*domain);
      }
    return next;
  }

  void place_in_order(const Domain& domain) {
    for (std::size_t at = 0; at < domain.ranks.size(); ++at)
      slot_of_rank_[as_index(domain.ranks[at])] = domain.slots[at];
  }

  // The node of ranks that have a slot already is exact.
  Whereabouts whereabouts(const std::vector<Domain>& level) const {
    Whereabouts where;
    where.domain.assign(slot_of_rank_.size(), -1);
    where.place.assign(slot_of_rank_.size(), -1);
    where.middle.assign(slot_of_rank_.size(), -1);
    for (std::size_t rank = 0; rank < slot_of_rank_.size(); ++rank)
      if (slot_of_rank_[rank] >= 0) where.middle[rank] = host_.node(slot_of_rank_[rank]);
    for (std::size_t at = 0; at < level.size(); ++at) {
      const std::int32_t middle = middle_of(level[at].slots);
      for (std::size_t place = 0; place < level[at].ranks.size(); ++place) {
        const std::size_t rank = as_index(level[at].ranks[place]);
        where.domain[rank] = static_cast<std::int32_t>(at);
        where.place[rank] = static_cast<std::int32_t>(place);
        where.middle[rank] = middle;
      }
    }
    return where;
  }

  // A node of the slots that is not far from any sample of them.
  std::int32_t middle_of(const std::vector<std::int32_t>& slots) const {
    const std::vector<std::int32_t> nodes = sample(slots, 0, slots.size(), 12);
    return host_.metric.visit([&](const auto& hops) {
      std::int32_t best = nodes.front();
      std::int64_t least = -1;
      for (const std::int32_t node : nodes) {
        std::int64_t sum = 0;
        for (const std::int32_t other : nodes) sum += hops(node, other);
        if (least < 0 || sum < least) best = node, least = sum;
      }
      return best;
    });
  }

  std::vector<std::int32_t> sample(const std::vector<std::int32_t>& slots, std::size_t begin, std::size_t end,
                                   std::size_t most) const {
    std::vector<std::int32_t> nodes;
    const std::size_t count = std::min(most, end - begin);
    for (std::size_t at = 0; at < count; ++at)
      nodes.push_back(host_.node(slots[begin + (2 * at + 1) * (end - begin) / (2 * count)]));
    return nodes;
  }

  Halves halves_of(Domain domain, const Whereabouts& where, int depth, std::int32_t number) {
    Random random(options_.seed + 0x10001 * static_cast<std::uint64_t>(depth) +
                  static_cast<std::uint64_t>(number) * 7919);
    const std::size_t cut = cut_of(host_, domain.slots, random);
    const auto ranks = static_cast<std::int64_t>(domain.ranks.size()),
               slots = static_cast<std::int64_t>(domain.slots.size());
    const auto zeros = static_cast<std::int64_t>(cut), ones = slots - zeros;
    const auto first = static_cast<std::int32_t>(
        std::clamp((2 * ranks * zeros + slots) / (2 * slots), ranks - std::min(ranks, ones), std::min(ranks, zeros)));
    const TrafficGraph graph = graph_of(domain, where);
    const std::vector<std::int64_t> pull = pulls(domain, cut, where);
    const std::vector<char> part = cut_graph(graph, first, pull, random.next());
    Halves halves;
    for (std::size_t at = 0; at < domain.ranks.size(); ++at)
      (part[at] == 0 ? halves.first : halves.second).ranks.push_back(domain.ranks[at]);
    const auto middle = domain.slots.begin() + static_cast<std::ptrdiff_t>(cut);
    halves.first.slots.assign(domain.slots.begin(), middle);
    halves.second.slots.assign(middle, domain.slots.end());
    return halves;
  }

  std::vector<char> cut_graph(const TrafficGraph& graph, std::int32_t first, std::span<const std::int64_t> pull,
                              std::uint64_t seed) {
    if (static_cast<std::size_t>(graph.ranks()) >= least_ranks_for_library) {
      Result<std::vector<char>> part = partitioner_.halve(graph, first, pull, seed);
      if (part.ok()) return std::move(part).value();
    }
    return greedy_->halve(graph, first, pull, seed).value();
  }

  TrafficGraph graph_of(const Domain& domain, const Whereabouts& where) const {
    std::vector<std::pair<std::int32_t, TrafficGraph::Edge>> pairs;
    for (std::size_t at = 0; at < domain.ranks.size(); ++at)
      for (const TrafficGraph::Edge& edge : graph_.of(domain.ranks[at]))
        if (edge.to > domain.ranks[at] && where.domain[as_index(edge.to)] == where.domain[as_index(domain.ranks[at])])
          pairs.push_back({static_cast<std::int32_t>(at), {where.place[as_index(edge.to)], edge.bytes}});
    return TrafficGraph::of_pairs(static_cast<std::int32_t>(domain.ranks.size()), pairs);
  }

  // Bytes to ranks outside, by how much nearer one half is, in units of the distance between the halves.
  std::vector<std::int64_t> pulls(const Domain& domain, std::size_t cut, const Whereabouts& where) const {
    std::vector<std::int64_t> pull(domain.ranks.size(), 0);
    const std::vector<std::int32_t> zeros = sample(domain.slots, 0, cut, 8);
    const std::vector<std::int32_t> ones = sample(domain.slots, cut, domain.slots.size(), 8);
    host_.metric.visit([&](const auto& hops) {
      const auto mean = [&](const std::vector<std::int32_t>& nodes, std::int32_t from) {
        double sum = 0;
        for (const std::int32_t node : nodes) sum += hops(from, node);
        return sum / static_cast<double>(nodes.size());
      };
      double apart = 0;
      for (const std::int32_t node : zeros) apart += mean(ones, node) / static_cast<double>(zeros.size());
      if (apart <= 0) return;
      for (std::size_t at = 0; at < domain.ranks.size(); ++at) {
        double sum = 0;
        for (const TrafficGraph::Edge& edge : graph_.of(domain.ranks[at])) {
          if (where.domain[as_index(edge.to)] == where.domain[as_index(domain.ranks[at])]) continue;
          const std::int32_t outside = where.middle[as_index(edge.to)];
          sum += static_cast<double>(edge.bytes) * (mean(ones, outside) - mean(zeros, outside));
        }
        pull[at] = static_cast<std::int64_t>(sum / apart);
      }
    });
    return pull;
  }

  const TrafficGraph& graph_;
  const MappingHost& host_;
  Partitioner& partitioner_;
  const BisectOptions& options_;
  const Tools& tools_;
  std::unique_ptr<Partitioner> greedy_;
  std::vector<std::int32_t> slot_of_rank_;
};

} // namespace

Assignment bisect(const MappingProblem& problem, Partitioner& partitioner, const BisectOptions& options,
                  const Tools& tools) {
  return Bisection(problem, partitioner, options, tools).run();
}

} // namespace kumihimo::mapping
