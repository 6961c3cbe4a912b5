#include "mapping/lattice/face_graphs.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::mapping {
namespace {

constexpr std::size_t most_gaps = 8;
constexpr std::size_t most_with_diagonals = 242; // neighbours in 5 dimensions

// The bytes from which on edges are kept: above each of the widest gaps, widest first, and all.
std::vector<std::int64_t> thresholds(const TrafficGraph& graph) {
  std::vector<std::int64_t> bytes;
  bytes.reserve(graph.edges.size());
  for (const TrafficGraph::Edge& edge : graph.edges) bytes.push_back(edge.bytes);
  std::sort(bytes.begin(), bytes.end());
  bytes.erase(std::unique(bytes.begin(), bytes.end()), bytes.end());
  std::vector<std::pair<double, std::int64_t>> gaps;
  for (std::size_t at = 1; at < bytes.size(); ++at)
    gaps.emplace_back(static_cast<double>(bytes[at]) / static_cast<double>(bytes[at - 1]), bytes[at]);
  std::sort(gaps.begin(), gaps.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second > b.second; });
  std::vector<std::int64_t> from = {0};
  for (std::size_t at = 0; at < std::min(most_gaps, gaps.size()); ++at) from.push_back(gaps[at].second);
  return from;
}

// How many vertices both closed neighbourhoods have.
std::int32_t common(const Links& links, std::int32_t a, std::int32_t b) {
  const auto x = links.of(a), y = links.of(b);
  std::int32_t count = 2; // a and b, which are neighbours
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    if (x[i] == y[j]) ++count;
    const bool next = x[i] <= y[j];
    j += x[i] >= y[j];
    i += next;
  }
  return count;
}

template <class Kept>
Links part_of(const TrafficGraph& graph, const Kept& kept) {
  Links links;
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) {
    for (const TrafficGraph::Edge& edge : graph.of(rank))
      if (kept(rank, edge)) links.ends.push_back(edge.to);
    links.first.push_back(static_cast<std::int64_t>(links.ends.size()));
  }
  return links;
}

} // namespace

bool is_connected(const Links& links) {
  std::vector<std::int32_t> queue = {0};
  std::vector<char> seen(static_cast<std::size_t>(links.vertices()), 0);
  seen[0] = 1;
  for (std::size_t at = 0; at < queue.size(); ++at)
    for (const std::int32_t end : links.of(queue[at]))
      if (!seen[static_cast<std::size_t>(end)]) {
        seen[static_cast<std::size_t>(end)] = 1;
        queue.push_back(end);
      }
  return queue.size() == static_cast<std::size_t>(links.vertices());
}

Links links_of_at_least(const TrafficGraph& graph, std::int64_t bytes) {
  return part_of(graph, [&](std::int32_t, const TrafficGraph::Edge& edge) { return edge.bytes >= bytes; });
}

std::vector<Links> heavy_parts(const TrafficGraph& graph) {
  std::vector<Links> parts;
  for (const std::int64_t bytes : thresholds(graph)) {
    const auto n = static_cast<std::size_t>(graph.ranks());
    std::size_t kept = 0;
    for (const TrafficGraph::Edge& edge : graph.edges) kept += edge.bytes >= bytes;
    if (kept < 2 * (n - 1) || kept > n * most_with_diagonals) continue;
    Links links = links_of_at_least(graph, bytes);
    if (is_connected(links)) parts.push_back(std::move(links));
  }
  return parts;
}

Links heaviest_of_each(const TrafficGraph& graph, std::size_t count) {
  std::vector<std::int64_t> least(static_cast<std::size_t>(graph.ranks()), 0);
  std::vector<std::int64_t> bytes;
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) {
    if (graph.degree(rank) <= count) continue;
    bytes.clear();
    for (const TrafficGraph::Edge& edge : graph.of(rank)) bytes.push_back(edge.bytes);
    std::nth_element(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count) - 1, bytes.end(),
                     std::greater<>());
    least[static_cast<std::size_t>(rank)] = bytes[count - 1];
  }
  return part_of(graph, [&](std::int32_t rank, const TrafficGraph::Edge& edge) {
    return edge.bytes >= least[static_cast<std::size_t>(rank)] &&
           edge.bytes >= least[static_cast<std::size_t>(edge.to)];
  });
}

Links skeleton(const Links& links) {
  for (std::int32_t vertex = 0; vertex < links.vertices(); ++vertex)
    if (links.of(vertex).size() > most_with_diagonals) return links;
  std::vector<std::int32_t> shared(links.ends.size());
  const auto of_edge = [&](std::int32_t from, std::int32_t to) {
    const auto ends = links.of(from);
    const auto at = std::lower_bound(ends.begin(), ends.end(), to) - ends.begin();
    return shared[static_cast<std::size_t>(links.first[static_cast<std::size_t>(from)] + at)];
  };
  for (std::int32_t vertex = 0; vertex < links.vertices(); ++vertex)
    for (auto at = links.first[static_cast<std::size_t>(vertex)];
         at < links.first[static_cast<std::size_t>(vertex) + 1]; ++at) {
      const std::int32_t end = links.ends[static_cast<std::size_t>(at)];
      shared[static_cast<std::size_t>(at)] = end > vertex ? common(links, vertex, end) : of_edge(end, vertex);
    }
  const auto closed = [&](std::int32_t vertex) { return static_cast<std::int32_t>(links.of(vertex).size()) + 1; };
  // The conditions on sets are tested by their sizes: the sets are products of runs of places, which nest.
  const auto is_nearer = [&](std::int32_t x, std::int32_t y, std::int32_t z, std::int32_t xy) {
    return of_edge(x, z) > xy || (of_edge(x, z) == closed(x) && closed(x) < closed(z) && closed(z) < closed(y));
  };
  Links kept;
  for (std::int32_t x = 0; x < links.vertices(); ++x) {
    const auto of_x = links.of(x);
    for (const std::int32_t y : of_x) {
      const auto of_y = links.of(y);
      const std::int32_t xy = of_edge(x, y);
      bool dispensable = false;
      for (std::size_t i = 0, j = 0; i < of_x.size() && j < of_y.size() && !dispensable;) {
        if (of_x[i] == of_y[j]) dispensable = is_nearer(x, y, of_x[i], xy) && is_nearer(y, x, of_x[i], xy);
        const bool next = of_x[i] <= of_y[j];
        j += of_x[i] >= of_y[j];
        i += next;
      }
      if (!dispensable) kept.ends.push_back(y);
    }
    kept.first.push_back(static_cast<std::int64_t>(kept.ends.size()));
  }
  return kept;
}

} // namespace kumihimo::mapping
