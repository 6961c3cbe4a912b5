#include "interpose/reorder_choice.hpp"

#include "mapping/objective/hop_bytes.hpp"
#include "placement/orders.hpp"
#include "topology/fat_tree.hpp"
#include "topology/torus.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

namespace kumihimo::interpose {
namespace {

using mapping::Assignment;
using mapping::Graph;
using mapping::Host;

constexpr std::int64_t most_look_ups = 100'000'000;

// The nodes numbered from 0 in the order of their first process; places of a network stay.
std::vector<std::int32_t> node_numbers(const Processes& processes, std::int32_t& nodes) {
  std::vector<std::int32_t> number(processes.node.begin(), processes.node.end());
  if (processes.network) return nodes = processes.network->places(), number;
  std::vector<std::pair<std::int64_t, std::int32_t>> first; // name and process
  for (std::size_t p = 0; p < processes.node.size(); ++p)
    first.emplace_back(processes.node[p], static_cast<std::int32_t>(p));
  std::sort(first.begin(), first.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  first.erase(std::unique(first.begin(), first.end(), same), first.end());
  std::vector<std::int32_t> by_first(first.size()); // names in the order of their first process
  std::iota(by_first.begin(), by_first.end(), 0);
  std::sort(by_first.begin(), by_first.end(), [&](std::int32_t a, std::int32_t b) {
    return first[static_cast<std::size_t>(a)].second < first[static_cast<std::size_t>(b)].second;
  });
  std::vector<std::int32_t> of_name(first.size());
  for (std::size_t n = 0; n < by_first.size(); ++n)
    of_name[static_cast<std::size_t>(by_first[n])] = static_cast<std::int32_t>(n);
  for (std::size_t p = 0; p < number.size(); ++p) {
    const auto at = std::lower_bound(first.begin(), first.end(), std::pair{processes.node[p], std::int32_t{0}});
    number[p] = of_name[static_cast<std::size_t>(at - first.begin())];
  }
  nodes = static_cast<std::int32_t>(first.size());
  return number;
}

// A slot for each process, in block order: the processes of a node in their own order.
struct Job {
  Host host;
  std::vector<std::int32_t> slot_of_process;
};

// Distances on one switch are alike, so that no table of them is needed: see BetweenNodes.
Host host_of_switch(TopologyPtr network, Slots slots) {
  std::vector<std::int32_t> node_of_slot;
  for (std::int32_t node = 0; node < slots.nodes(); ++node)
    node_of_slot.insert(node_of_slot.end(), static_cast<std::size_t>(slots.on(NodeId{node})), node);
  return Host{std::move(network), std::move(slots), {}, std::move(node_of_slot)};
}

Result<Job> job_of(const Processes& processes) {
  std::int32_t nodes = 0;
  const std::vector<std::int32_t> node = node_numbers(processes, nodes);
  std::vector<std::int32_t> sizes(static_cast<std::size_t>(nodes), 0);
  for (const std::int32_t n : node) ++sizes[static_cast<std::size_t>(n)];
  Slots slots = TRY(Slots::of_nodes(sizes));
  std::vector<std::int32_t> next(sizes.size(), 0), slot_of_process;
  for (const std::int32_t n : node)
    slot_of_process.push_back(slots.index({NodeId{n}, next[static_cast<std::size_t>(n)]++}));
  if (processes.network)
    return Job{TRY(Host::make(std::make_shared<const Torus>(*processes.network), std::move(slots))),
               std::move(slot_of_process)};
  TopologyPtr network = std::make_shared<const FatTree>(TRY(FatTree::make({{nodes, 1, 1}}, nodes)));
  return Job{host_of_switch(std::move(network), std::move(slots)), std::move(slot_of_process)};
}

std::vector<std::int32_t> new_ranks_of(const Assignment& map, const Job& job) {
  std::vector<std::int32_t> new_rank;
  for (const std::int32_t slot : job.slot_of_process) new_rank.push_back(map.rank_in(slot));
  return new_rank;
}

Assignment with_ranks(const std::vector<std::int32_t>& of_process, const Job& job) {
  std::vector<std::int32_t> slot_of_rank(of_process.size());
  for (std::size_t p = 0; p < of_process.size(); ++p)
    slot_of_rank[static_cast<std::size_t>(of_process[p])] = job.slot_of_process[p];
  return Assignment::of_slots(std::move(slot_of_rank), job.host.size());
}

// Ranks that stay on their node keep their process.
Assignment with_fewest_moves(const Assignment& found, const Assignment& current, const Host& host) {
  const std::int32_t ranks = found.ranks();
  std::vector<std::int32_t> slot_of_rank(static_cast<std::size_t>(ranks), -1);
  std::vector<bool> taken(static_cast<std::size_t>(host.size()), false);
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    if (host.node(found.slot(rank)) == host.node(current.slot(rank))) {
      slot_of_rank[static_cast<std::size_t>(rank)] = current.slot(rank);
      taken[static_cast<std::size_t>(current.slot(rank))] = true;
    }
  std::vector<std::int32_t> next(static_cast<std::size_t>(host.slots.nodes()));
  for (std::int32_t node = 0; node < host.slots.nodes(); ++node)
    if (host.slots.on(NodeId{node}) > 0) next[static_cast<std::size_t>(node)] = host.slots.index({NodeId{node}, 0});
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    if (slot_of_rank[static_cast<std::size_t>(rank)] >= 0) continue;
    std::int32_t& slot = next[static_cast<std::size_t>(host.node(found.slot(rank)))];
    while (taken[static_cast<std::size_t>(slot)]) ++slot;
    slot_of_rank[static_cast<std::size_t>(rank)] = slot++;
  }
  return Assignment::of_slots(std::move(slot_of_rank), host.size());
}

// In place of hops on a network, where there is none.
struct BetweenNodes {
  std::int32_t operator()(std::int32_t from, std::int32_t to) const { return from != to; }
};

// Exchanges ranks with those on the nodes of their neighbours, as long as one such exchange helps.
class Exchanges {
 public:
  Exchanges(const Graph& graph, const Host& host, Assignment start, std::int64_t look_ups)
      : graph_(graph), host_(host), map_(std::move(start)), left_(look_ups) {}

  Assignment improved() {
    if (host_.metric.nodes() > 0)
      host_.metric.visit([this](const auto& hops) { improve_all(hops); });
    else
      improve_all(BetweenNodes{});
    return std::move(map_);
  }

 private:
  template <class Hops>
  void improve_all(const Hops& hops) {
    bool moved = true;
    while (std::exchange(moved, false))
      for (std::int32_t rank = 0; rank < graph_.ranks(); ++rank) {
        if (left_ < 0) return;
        moved |= improve(rank, hops);
      }
  }

  // To the best slot on the nodes of its neighbours.
  template <class Hops>
  bool improve(std::int32_t rank, const Hops& hops) {
    nodes_.clear();
    for (const Graph::Edge& edge : graph_.of(rank)) nodes_.push_back(host_.node(map_.slot(edge.to)));
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
    std::int64_t best = 0;
    std::int32_t best_slot = -1;
    for (const std::int32_t node : nodes_) {
      if (node == host_.node(map_.slot(rank))) continue;
      const std::int32_t first = host_.slots.index({NodeId{node}, 0});
      for (std::int32_t slot = first; slot < first + host_.slots.on(NodeId{node}); ++slot) {
        const std::int32_t other = map_.rank_in(slot);
        left_ -= 2 * static_cast<std::int64_t>(graph_.degree(rank) + (other < 0 ? 0 : graph_.degree(other)));
        const std::int64_t added = mapping::hop_bytes_added(graph_, host_, map_, rank, slot, hops);
        if (added < best) best = added, best_slot = slot;
      }
      if (left_ < 0) break;
    }
    if (best_slot >= 0) map_.exchange(rank, best_slot);
    return best_slot >= 0;
  }

  const Graph& graph_;
  const Host& host_;
  Assignment map_;
  std::int64_t left_;
  std::vector<std::int32_t> nodes_; // of a rank's neighbours
};

std::int64_t cost(const Graph& graph, const Job& job, const Processes& processes, const Assignment& map) {
  return processes.network ? mapping::hop_bytes(graph, job.host, map) : mapping::off_node_bytes(graph, job.host, map);
}

// Half of the look-ups for the usual orders, the rest for exchanges, first from the ranks as they are.
Assignment search(const Graph& graph, const Job& job, const Assignment& current, const Processes& processes,
                  const std::optional<Shape>& grid) {
  std::int64_t least = cost(graph, job, processes, current);
  Assignment best = current;
  const auto take = [&](Assignment map) {
    const std::int64_t bytes = cost(graph, job, processes, map);
    if (bytes < least) least = bytes, best = std::move(map);
  };
  std::int64_t left = most_look_ups / 2;
  const OrderContext context{job.host.slots, processes.network.value_or(Shape{}), grid, graph.ranks()};
  for (const std::string& order : simple_orders(context)) {
    left -= static_cast<std::int64_t>(graph.edges.size());
    if (left < 0) break;
    if (const Result<Placement> placement = placement_in_order(order, context)) take(Assignment::of(*placement));
  }
  const Assignment start = best;
  take(Exchanges(graph, job.host, start, most_look_ups / 4).improved());
  if (!(start == current)) take(Exchanges(graph, job.host, current, most_look_ups / 4).improved());
  return best;
}

Result<NewRanks> judged(const Traffic& traffic, const Processes& processes, const Job& job, const Assignment& current,
                        const Assignment& map) {
  const Graph graph = mapping::weigh(Graph::of(traffic), job.host).graph;
  return NewRanks{new_ranks_of(map, job), cost(graph, job, processes, current), cost(graph, job, processes, map)};
}

std::vector<std::int32_t> as_they_are(std::int32_t ranks) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

} // namespace

Result<NewRanks> choose_ranks(const Traffic& traffic, const Processes& processes, const std::optional<Shape>& grid) {
  const Job job = TRY(job_of(processes));
  const Graph graph = mapping::weigh(Graph::of(traffic), job.host).graph;
  const Assignment current = with_ranks(as_they_are(traffic.ranks()), job);
  const Assignment found = search(graph, job, current, processes, grid);
  return judged(traffic, processes, job, current, with_fewest_moves(found, current, job.host));
}

Result<NewRanks> judge_ranks(const Traffic& traffic, const Processes& processes, std::vector<std::int32_t> of_process) {
  const Job job = TRY(job_of(processes));
  return judged(traffic, processes, job, with_ranks(as_they_are(traffic.ranks()), job), with_ranks(of_process, job));
}

} // namespace kumihimo::interpose
