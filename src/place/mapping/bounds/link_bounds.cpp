#include "mapping/bounds/best_flow.hpp"
#include "mapping/bounds/bounds.hpp"
#include "mapping/bounds/cuts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace kumihimo::mapping {
namespace {

// Least bytes on one link, from computed bytes over links: a little less, as computed numbers are off by far less than
// that. Bytes that no integer holds count as fewer.
std::int64_t least_on_one(double bytes, std::int64_t links) {
  if (links <= 0) return 0;
  const auto whole = static_cast<std::int64_t>(std::min(0x1p62, std::floor(bytes * (1 - 0x1p-50))));
  return (whole + links - 1) / links;
}

std::int64_t most_slots_a_node(const MappingHost& host) {
  std::int64_t most = 0;
  for (std::int32_t node = 0; node < host.slots.nodes(); ++node)
    most = std::max<std::int64_t>(most, host.slots.on(NodeId{node}));
  return most;
}

// Bytes left when the largest of these go to ranks of the same node.
std::int64_t without_largest(std::vector<std::int64_t>& bytes, std::int64_t largest) {
  const auto kept =
      static_cast<std::ptrdiff_t>(std::min<std::int64_t>(largest, static_cast<std::int64_t>(bytes.size())));
  std::nth_element(bytes.begin(), bytes.begin() + kept, bytes.end(), std::greater<>());
  return std::accumulate(bytes.begin() + kept, bytes.end(), std::int64_t{0});
}

// The most bytes that one rank sends to, or receives from, other nodes.
std::int64_t most_of_a_rank(const Traffic& traffic, std::int64_t others_on_its_node) {
  std::vector<std::vector<std::int64_t>> received(static_cast<std::size_t>(traffic.ranks()));
  std::int64_t most = 0;
  std::vector<std::int64_t> sent;
  for (std::int32_t rank = 0; rank < traffic.ranks(); ++rank) {
    sent.clear();
    for (const Traffic::Flow& flow : traffic.from(Rank{rank})) {
      sent.push_back(flow.bytes);
      received[static_cast<std::size_t>(flow.to.value)].push_back(flow.bytes);
    }
    most = std::max(most, without_largest(sent, others_on_its_node));
  }
  for (std::vector<std::int64_t>& bytes : received) most = std::max(most, without_largest(bytes, others_on_its_node));
  return most;
}

// Links of a class carry what the cuts across them separate.
std::int64_t by_classes(const MappingHost& host, double flow, std::int64_t ranks, std::int64_t unit) {
  std::map<std::int32_t, double> bytes;
  for (const CutFamily& family : cut_families(host, ranks))
    if (family.link_class >= 0) bytes[family.link_class] += fewest_bytes(family, flow, ranks, unit) * family.halves / 2;
  if (bytes.empty()) return 0;
  std::map<std::int32_t, std::int64_t> links;
  for (LinkId link{0}; link.value < host.network->link_bound(); ++link.value)
    if (host.network->is_link(link)) ++links[host.network->link_class(link)];
  std::int64_t most = 0;
  for (const auto& [link_class, carried] : bytes) most = std::max(most, least_on_one(carried, links[link_class]));
  return most;
}

// Half of what a cut separates goes one way, or more.
std::int64_t by_cuts_of_network(const MappingHost& host, double flow, std::int64_t ranks, std::int64_t unit) {
  const std::int64_t nodes = host.network->nodes(), slots = most_slots_a_node(host);
  std::int64_t most = 0;
  for (const Topology::Cut& cut : host.network->cuts()) {
    const auto inside = static_cast<std::int64_t>(std::llround(cut.share * static_cast<double>(nodes)));
    CutFamily family;
    family.fewest = std::max<std::int64_t>(0, ranks - (nodes - inside) * slots);
    family.most = std::min(ranks, inside * slots);
    const std::int64_t links = std::accumulate(cut.links.begin(), cut.links.end(), std::int64_t{0});
    most = std::max(most, least_on_one(fewest_bytes(family, flow, ranks, unit) / 2, links));
  }
  return most;
}

} // namespace

std::vector<LinkBound> link_bounds(const MappingProblem& problem, double best_average_hops_bound, std::int64_t terms,
                                   const Tools& tools) {
  const Traffic& traffic = problem.traffic;
  const MappingHost& host = problem.host;
  std::vector<LinkBound> bounds;
  bounds.push_back({"links",
                    least_on_one(best_average_hops_bound * static_cast<double>(traffic.bytes()), host.network->links()),
                    "all hop-bytes divided evenly among all links"});
  const std::int64_t degree = host.network->degree();
  if (degree > 0)
    bounds.push_back({"ports", (most_of_a_rank(traffic, most_slots_a_node(host) - 1) + degree - 1) / degree,
                      "the bytes of one rank divided evenly among the links of its node"});
  // Bytes of a graph that was weighed are not those of the traffic.
  if (problem.graph.bytes() == traffic.bytes() && !tools.stop()) {
    FlowLimits limits;
    limits.terms = terms;
    if (const double flow = best_flow(problem, {}, limits, tools); flow > 0) {
      const std::int64_t unit = common_divisor(problem.graph);
      const std::int64_t bytes = std::max(by_classes(host, flow, traffic.ranks(), unit),
                                          by_cuts_of_network(host, flow, traffic.ranks(), unit));
      if (bytes > 0) bounds.push_back({"cut", bytes, "the links across a cut of the network divide its bytes evenly"});
    }
  }
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const LinkBound& a, const LinkBound& b) { return a.bytes > b.bytes; });
  return bounds;
}

} // namespace kumihimo::mapping
