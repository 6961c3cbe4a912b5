#include "simulate/models.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

namespace kumihimo::simulation {
namespace {

// How the ranks lie on the machine.
struct RanksOnNodes {
  std::int64_t ranks = 0, nodes = 0, busiest = 0; // busiest: the most ranks on a node
  bool whole = false;                             // every node of the machine has the same number of ranks
};

RanksOnNodes ranks_on_nodes(const NetworkPaths& network) {
  std::vector<std::int32_t> held(static_cast<std::size_t>(network.machine().topology->nodes()));
  for (const std::int32_t node : network.nodes()) ++held[node];
  RanksOnNodes l;
  l.ranks = static_cast<std::int64_t>(network.nodes().size());
  for (const std::int32_t h : held) l.nodes += h > 0;
  l.busiest = *std::max_element(held.begin(), held.end());
  l.whole = *std::min_element(held.begin(), held.end()) == l.busiest;
  return l;
}

// Bytes that a collective moves at least.
struct Volume {
  double node = 0;    // into or out of the node that has most, whichever way is more
  double reduced = 0; // result bytes of reductions at the rank that has most
};

double mean_count(const Collective& c) {
  if (!c.counts.table) return static_cast<double>(c.counts.each);
  const auto& table = *c.counts.table;
  return static_cast<double>(std::accumulate(table.begin(), table.end(), std::int64_t{0})) /
         static_cast<double>(table.size());
}

// Bytes between neighbours on different nodes, of the node that has most. What one rank sends to all of its
// destinations leaves its node once at least, and enters another once.
Volume volume_of_neighbours(const Collective& c, const NetworkPaths& network) {
  std::vector<double> leaving(static_cast<std::size_t>(network.machine().topology->nodes())), entering = leaving;
  const std::vector<std::int32_t>& node = network.nodes();
  const bool one = !c.kind->sends_to_each();
  for (std::int32_t r = 0; r < c.ranks; ++r) {
    std::set<std::int32_t> reached = {node[static_cast<std::size_t>(r)]};
    for (std::int64_t k = 0; const Neighbourhood::End to : c.neighbours->destinations(Rank{r})) {
      const double n = static_cast<double>(elements_to(c, Rank{r}, k++) * c.type_bytes);
      if (!to.exists() || node[to.rank] == node[r]) continue;
      const bool first = reached.insert(node[to.rank]).second;
      if (!one || first) entering[node[to.rank]] += n;
      if (!one || (first && reached.size() == 2)) leaving[node[r]] += n;
    }
  }
  return {
      std::max(*std::max_element(leaving.begin(), leaving.end()), *std::max_element(entering.begin(), entering.end())),
      0};
}

// Whether each rank has a block of its own for each.
bool is_of_pairs(const Collective& c) {
  return c.kind->sends_to_each() && c.kind->receives_from_each() && !c.reduces();
}

Volume volume_of(const Collective& c, const NetworkPaths& network, const RanksOnNodes& l) {
  if (c.neighbours) return volume_of_neighbours(c, network);
  const double n = mean_count(c) * static_cast<double>(c.type_bytes), ranks = static_cast<double>(l.ranks),
               nodes = static_cast<double>(l.nodes), inside = ranks / nodes;
  const bool even = !c.counts.table;
  const double outside = even ? ranks - static_cast<double>(l.busiest) : 0; // ranks elsewhere
  if (!c.kind->moves_data()) return {};
  if (c.kind->is_vector()) {
    // Where all ranks get the sum of all, every contribution leaves its node and every result enters (Chan et al.
    // 2007).
    const bool exchanged = c.reduces() && !c.has_root() && c.kind->gives_all_the_same();
    return {exchanged ? 2 * n * (nodes - 1) / nodes : n, c.reduces() ? n * (ranks - 1) / ranks : 0};
  }
  return {is_of_pairs(c) ? n * outside * inside : n * outside, c.reduces() ? n * (ranks - 1) : 0};
}

// Bytes that cross a cut at least, the way that has more of them, with this share of the ranks on its smaller side.
double across(const Collective& c, double ranks, double share) {
  const double n = mean_count(c) * static_cast<double>(c.type_bytes);
  const bool even = !c.counts.table;                   // else blocks may all lie on one side
  if (!c.kind->moves_data() || c.neighbours) return 0; // all neighbours may be on one side
  if (c.kind->is_vector()) return n;
  if (is_of_pairs(c)) return even ? n * ranks * ranks * share * (1 - share) : 0;
  if (c.has_root()) return even ? n * ranks * share : 0; // the root is on the larger side, or more has to cross
  return n * ranks * (even ? 1 - share : 0.5);           // all of the side that has more
}

// Of links of these numbers, by class.
double capacity(const Machine& m, const std::vector<std::int64_t>& links) {
  double sum = 0;
  for (std::size_t i = 0; i < links.size(); ++i)
    sum += static_cast<double>(links[i]) * m.link_bandwidth(static_cast<std::int32_t>(i)).value;
  return sum;
}

double seconds_across(const Collective& c, const Machine& m, double ranks) {
  double longest = 0;
  for (const Topology::Cut& cut : m.topology->cuts())
    if (const double rate = capacity(m, cut.links); rate > 0)
      longest = std::max(longest, across(c, ranks, cut.share) / rate);
  return longest;
}

double fastest(const NetworkPaths& network, std::int32_t first, std::int32_t count) {
  const auto begin = network.capacities().begin() + first;
  return count == 0 ? 0 : *std::max_element(begin, begin + count);
}

// By way of others it may be fewer hops where routes are as they were given.
double seconds_over(std::int32_t hops, const Machine& m) {
  double hop = m.network.hop_latency.value.value;
  for (std::size_t c = 0; c < m.network.classes.size(); ++c) {
    const double of_class = m.hop_latency(static_cast<std::int32_t>(c)).value;
    hop = c == 0 ? of_class : std::min(hop, of_class);
  }
  return m.software.message_cost.value.value + m.software.relay_latency.value.value +
         (m.topology->has_shortest_ways() ? hops : std::min(hops, 1)) * hop;
}

// Until anything of one rank's is at another. Ranks of a node may reach each other by way of another node, in two
// messages at least.
double seconds_between(std::int32_t from, std::int32_t to, const NetworkPaths& network) {
  if (from == to) return 0;
  const Machine& m = network.machine();
  const NodeId here{network.nodes()[from]}, there{network.nodes()[to]};
  if (here != there) return seconds_over(m.topology->distance(here, there), m);
  const double within = network.least_latency_within_node(from, to);
  return m.topology->nodes() < 2 ? within : std::min(within, 2 * seconds_over(1, m));
}

// To the farthest of all neighbours that get anything.
double latency_of_neighbours(const Collective& c, const NetworkPaths& network) {
  double longest = 0;
  for (std::int32_t r = 0; r < c.ranks; ++r)
    for (std::int64_t k = 0; const Neighbourhood::End to : c.neighbours->destinations(Rank{r}))
      if (elements_to(c, Rank{r}, k++) > 0 && to.exists())
        longest = std::max(longest, seconds_between(r, to.rank, network));
  return longest;
}

// Over the pairs of ranks that have anything for each other.
double latency_of_pairs(const Collective& c, const NetworkPaths& network) {
  double longest = 0;
  auto count = c.counts.table->begin();
  for (std::int32_t from = 0; from < c.ranks; ++from)
    for (std::int32_t to = 0; to < c.ranks; ++to)
      if (*count++ > 0) longest = std::max(longest, seconds_between(from, to, network));
  return longest;
}

// From the root, or from anywhere where all depend on all, to the farthest rank. Irregular blocks may be empty: the
// root has then nothing to do with the block's rank; in allgather and reduce-scatter, where all ranks have to do with
// each block, the way begins at a rank whose block is not empty.
double latency(const Collective& c, const NetworkPaths& network, const RanksOnNodes& l) {
  if (c.neighbours) return latency_of_neighbours(c, network);
  if (l.ranks < 2 || (c.kind->moves_data() && mean_count(c) == 0)) return 0;
  const auto* table = c.counts.table.get();
  if (table && c.counts.known == Known::local) return latency_of_pairs(c, network);
  const auto is_empty = [&](std::int32_t r) { return table && (*table)[static_cast<std::size_t>(r)] == 0; };
  std::int32_t from = c.has_root() ? c.root.value : 0;
  while (!c.has_root() && is_empty(from)) ++from; // not all are
  double longest = 0;
  for (std::int32_t r = 0; r < c.ranks; ++r)
    if (!c.has_root() || !is_empty(r)) longest = std::max(longest, seconds_between(from, r, network));
  return longest;
}

double bytes_of(const Collective& c) {
  const std::int64_t most = c.counts.table && !c.counts.table->empty()
                                ? *std::max_element(c.counts.table->begin(), c.counts.table->end())
                                : c.counts.each;
  return c.kind->moves_data() ? static_cast<double>(most) * static_cast<double>(c.type_bytes) : 0;
}

// Where the network's own engine takes the data, no bound holds for it but its own: all nodes call it, or one of them
// sends its part to another that does.
std::optional<double> offloaded(const Collective& c, const NetworkPaths& network, const RanksOnNodes& l) {
  const Machine& m = network.machine();
  if (l.nodes < 2 || !network.offloads(c.type, c.reduces() ? std::optional(c.operation) : std::nullopt) ||
      bytes_of(c) > static_cast<double>(m.offload->max_bytes.value.value))
    return {};
  return std::min(network.offload_seconds(l.nodes), network.offload_seconds(1) + seconds_over(1, m));
}

} // namespace

std::vector<LowerBound> lower_bounds(const Collective& collective, const NetworkPaths& network) {
  const RanksOnNodes l = ranks_on_nodes(network);
  const Volume v = volume_of(collective, network, l);
  const Machine& m = network.machine();
  const std::int32_t nodes = m.topology->nodes();
  const auto over = [](double bytes, double rate) { return Seconds{rate > 0 ? bytes / rate : 0}; };
  std::vector<LowerBound> bounds{{"latency", {latency(collective, network, l)}}};
  const double reducing = fastest(network, network.reducer(0), static_cast<std::int32_t>(l.ranks));
  if (l.nodes > 1) {
    bounds.push_back({"bandwidth", over(v.node, capacity(m, m.topology->ports()))});
    bounds.push_back({"injection", over(v.node, fastest(network, network.link_bound(), nodes))});
    if (l.whole) bounds.push_back({"bisection", {seconds_across(collective, m, static_cast<double>(l.ranks))}});
  }
  bounds.push_back({"reduction", over(v.reduced, reducing)});
  if (const auto most = offloaded(collective, network, l))
    for (LowerBound& bound : bounds) bound.seconds = std::min(bound.seconds, Seconds{*most});
  return bounds;
}

} // namespace kumihimo::simulation
