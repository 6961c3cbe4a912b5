#include "interpose/reorder_choice.hpp"

#include "mapping/anneal/annealing.hpp"
#include "mapping/choice/choice.hpp"
#include "mapping/objective/hop_bytes.hpp"
#include "mapping/partition/within_node.hpp"
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
using mapping::MappingHost;
using mapping::TrafficGraph;

// Pairs of ranks that exchange bytes, and 16 for each rank: about two seconds.
constexpr std::size_t most_work = 500'000, work_of_rank = 16;
constexpr std::int64_t annealed_per_edge = 200, most_annealed = 50'000'000; // distances
constexpr double cold = 1e-3;                                               // share of uphill exchanges
constexpr std::uint64_t seed = 1;

// The nodes numbered from 0 in the order of their first process; places of a network stay.
std::vector<std::int32_t> node_numbers(const ReorderedProcesses& processes, std::int32_t& nodes) {
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
struct ReorderedJob {
  MappingHost host;
  std::vector<std::int32_t> slot_of_process;
};

Result<ReorderedJob> job_of(const ReorderedProcesses& processes) {
  std::int32_t nodes = 0;
  const std::vector<std::int32_t> node = node_numbers(processes, nodes);
  std::vector<std::int32_t> sizes(static_cast<std::size_t>(nodes), 0);
  for (const std::int32_t n : node) ++sizes[static_cast<std::size_t>(n)];
  Slots slots = TRY(Slots::of_nodes(sizes));
  std::vector<std::int32_t> next(sizes.size(), 0), slot_of_process;
  for (const std::int32_t n : node)
    slot_of_process.push_back(slots.index({NodeId{n}, next[static_cast<std::size_t>(n)]++}));
  TopologyPtr network;
  if (processes.network)
    network = std::make_shared<const Torus>(*processes.network);
  else
    network = std::make_shared<const FatTree>(TRY(FatTree::make({{nodes, 1, 1}}, nodes)));
  return ReorderedJob{TRY(MappingHost::make(std::move(network), std::move(slots))), std::move(slot_of_process)};
}

std::vector<std::int32_t> new_ranks_of(const Assignment& map, const ReorderedJob& job) {
  std::vector<std::int32_t> new_rank;
  for (const std::int32_t slot : job.slot_of_process) new_rank.push_back(map.rank_in(slot));
  return new_rank;
}

Assignment with_ranks(const std::vector<std::int32_t>& of_process, const ReorderedJob& job) {
  std::vector<std::int32_t> slot_of_rank(of_process.size());
  for (std::size_t p = 0; p < of_process.size(); ++p)
    slot_of_rank[static_cast<std::size_t>(of_process[p])] = job.slot_of_process[p];
  return Assignment::of_slots(std::move(slot_of_rank), job.host.size());
}

// Ranks that stay on their node keep their process.
Assignment with_fewest_moves(const Assignment& found, const Assignment& current, const MappingHost& host) {
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

std::int64_t cost(const TrafficGraph& graph, const ReorderedJob& job, const ReorderedProcesses& processes,
                  const Assignment& map) {
  return processes.network ? mapping::hop_bytes(graph, job.host, map) : mapping::off_node_bytes(graph, job.host, map);
}

bool is_too_large_to_search(const TrafficGraph& graph) {
  return graph.edges.size() / 2 + work_of_rank * static_cast<std::size_t>(graph.ranks()) > most_work;
}

// What is to be reordered, and how it is seen.
struct ReorderRequest {
  const Traffic& traffic;
  const TrafficGraph& graph; // of the traffic, weighed for the job
  const ReorderedJob& job;
  const ReorderedProcesses& processes;
  const std::optional<Shape>& grid;
};

// The search of `place` at its fast effort. Exchanges of single ranks follow, which seldom go uphill: on nodes of
// few ranks a bisection leaves some percent.
Result<Assignment> search(const ReorderRequest& asked, const Assignment& current) {
  const auto& [traffic, graph, job, processes, grid] = asked;
  const mapping::MappingRequest request{.traffic = traffic,
                                        .host = job.host,
                                        .effort = mapping::SearchEffort::fast,
                                        .seed = seed,
                                        .nodes = processes.network.value_or(Shape{}),
                                        .grid = grid,
                                        .caps_links = false,
                                        .usual = mapping::NamedMap{"current", current},
                                        .only_orders = is_too_large_to_search(graph)};
  const mapping::Tools tools;
  mapping::Mapping mapping = TRY(map_ranks(request, tools));
  Assignment map = std::move(mapping.candidates[mapping.chosen].map);
  if (request.only_orders) return map;
  const std::int64_t terms = std::min(most_annealed, annealed_per_edge * static_cast<std::int64_t>(graph.edges.size()));
  mapping::anneal(map, {traffic, graph, job.host, grid}, {terms, 1, cold}, seed, tools);
  return map;
}

std::vector<std::int32_t> as_they_are(std::int32_t ranks) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The packages of each node as groups of as many slots, some of which nobody has: a level for place_within_nodes().
struct Packages {
  MappingHost host;
  Level package;
  std::vector<std::int32_t> of_slot; // the slot there of each slot of the job

  Assignment on_packages(const Assignment& map) const {
    std::vector<std::int32_t> slot_of_rank;
    for (const std::int32_t slot : map.slot_of_rank()) slot_of_rank.push_back(of_slot[static_cast<std::size_t>(slot)]);
    return Assignment::of_slots(std::move(slot_of_rank), host.size());
  }
  Assignment on_job(const Assignment& map) const {
    std::vector<std::int32_t> slot_of_rank(static_cast<std::size_t>(map.ranks()));
    for (std::size_t slot = 0; slot < of_slot.size(); ++slot)
      slot_of_rank[static_cast<std::size_t>(map.rank_in(of_slot[slot]))] = static_cast<std::int32_t>(slot);
    return Assignment::of_slots(std::move(slot_of_rank), static_cast<std::int32_t>(of_slot.size()));
  }
  std::int64_t bytes_between(const TrafficGraph& graph, const Assignment& map) const {
    return mapping::bytes_across(graph, host, on_packages(map), {&package, 1}).front();
  }
};

// Nothing if no node is known to have two.
std::optional<Packages> packages_of(const ReorderedProcesses& processes, const ReorderedJob& job) {
  if (processes.package.empty()) return {};
  const auto nodes = static_cast<std::size_t>(job.host.slots.nodes());
  std::vector<std::int32_t> package_in(processes.node.size()); // by slot
  for (std::size_t p = 0; p < processes.package.size(); ++p)
    package_in[static_cast<std::size_t>(job.slot_of_process[p])] = processes.package[p];
  std::vector<std::int32_t> group(package_in.size(), 0), place(package_in.size(), 0), groups(nodes, 0);
  std::int32_t most = 1;
  for (std::size_t node = 0, first = 0; node < nodes; ++node) {
    const auto last = first + static_cast<std::size_t>(job.host.slots.on(NodeId{static_cast<std::int32_t>(node)}));
    std::vector<std::int32_t> names, sizes;
    const auto begin = package_in.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = package_in.begin() + static_cast<std::ptrdiff_t>(last);
    const bool is_known = std::find(begin, end, -1) == end;
    for (; first < last; ++first) {
      const std::int32_t name = is_known ? package_in[first] : 0;
      const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      if (at == names.size()) names.push_back(name), sizes.push_back(0);
      group[first] = static_cast<std::int32_t>(at), place[first] = sizes[at]++;
      most = std::max(most, sizes[at]);
    }
    groups[node] = static_cast<std::int32_t>(names.size());
  }
  if (*std::max_element(groups.begin(), groups.end()) < 2) return {};
  std::vector<std::int32_t> sizes;
  for (const std::int32_t of_node : groups) sizes.push_back(of_node * most);
  Result<Slots> slots = Slots::of_nodes(sizes);
  if (!slots) return {}; // too many
  Packages packages{{job.host.network, *slots, {}, {}}, {"package", most}, {}};
  for (std::int32_t slot = 0; slot < packages.host.size(); ++slot)
    packages.host.node_of_slot.push_back(slots->at(slot).node.value);
  for (std::size_t slot = 0; slot < group.size(); ++slot)
    packages.of_slot.push_back(
        slots->index({NodeId{job.host.node(static_cast<std::int32_t>(slot))}, group[slot] * most + place[slot]}));
  return packages;
}

NewRanks judged(const TrafficGraph& graph, const ReorderedProcesses& processes, const ReorderedJob& job,
                const std::optional<Packages>& packages, const Assignment& current, const Assignment& map) {
  NewRanks ranks{new_ranks_of(map, job), {cost(graph, job, processes, current), cost(graph, job, processes, map)}, {}};
  if (packages) ranks.packages = {packages->bytes_between(graph, current), packages->bytes_between(graph, map)};
  return ranks;
}

} // namespace

Result<NewRanks> choose_ranks(const Traffic& traffic, const ReorderedProcesses& processes,
                              const std::optional<Shape>& grid) {
  const ReorderedJob job = TRY(job_of(processes));
  const TrafficGraph graph = mapping::weigh(TrafficGraph::of(traffic), job.host).graph;
  const Assignment current = with_ranks(as_they_are(traffic.ranks()), job);
  const Assignment searched = TRY(search({traffic, graph, job, processes, grid}, current));
  Assignment found = with_fewest_moves(searched, current, job.host);
  const std::optional<Packages> packages = packages_of(processes, job);
  if (packages) {
    if (!judged(graph, processes, job, {}, current, found).are_better()) found = current;
    found = packages->on_job(
        place_within_nodes(graph, packages->host, packages->on_packages(found), {&packages->package, 1}, seed, {}));
  }
  return judged(graph, processes, job, packages, current, found);
}

Result<NewRanks> judge_ranks(const Traffic& traffic, const ReorderedProcesses& processes,
                             std::vector<std::int32_t> of_process) {
  const ReorderedJob job = TRY(job_of(processes));
  const TrafficGraph graph = mapping::weigh(TrafficGraph::of(traffic), job.host).graph;
  return judged(graph, processes, job, packages_of(processes, job), with_ranks(as_they_are(traffic.ranks()), job),
                with_ranks(of_process, job));
}

} // namespace kumihimo::interpose
