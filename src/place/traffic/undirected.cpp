#include "traffic/undirected.hpp"

#include <fmt/format.h>

#include <utility>

namespace kumihimo {
namespace {

bool before(const GraphArc& a, const GraphArc& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); }

Error wrong_mirror(const UndirectedGraph& g, const GraphArc& arc, const GraphArc* mirror) {
  const std::int32_t from = arc.from + g.base, to = arc.to + g.base;
  return located(g.place(arc.from),
                 wrong_value(fmt::format("edge {}-{} must have its mirror {}-{} in line {} with the same weight", from,
                                         to, to, from, g.line_of_vertex[arc.to]),
                             mirror ? fmt::format("weights {} and {}", arc.weight, mirror->weight) : "",
                             fmt::format("{} graphs are undirected", g.kind)));
}

} // namespace

std::string UndirectedGraph::place(std::int32_t vertex) const {
  return fmt::format("{}:{}", file, line_of_vertex[vertex]);
}

Result<GraphArc> arc_of(const UndirectedGraph& g, std::int32_t from, std::int64_t to, std::int64_t weight) {
  const auto vertices = static_cast<std::int64_t>(g.line_of_vertex.size());
  if (to < g.base || to >= vertices + g.base)
    return wrong_value(fmt::format("a neighbour must be {} to {}", g.base, vertices + g.base - 1), to);
  if (to - g.base == from)
    return wrong_value("an edge must have two different ends", fmt::format("{}-{}", to, to), "leave it out");
  if (weight < 1) return wrong_value("the weight of an edge must be 1 or more", weight);
  return GraphArc{from, static_cast<std::int32_t>(to - g.base), weight};
}

Result<Traffic> traffic_of(UndirectedGraph g) {
  if (!std::is_sorted(g.arcs.begin(), g.arcs.end(), before)) std::sort(g.arcs.begin(), g.arcs.end(), before);
  auto builder = TRY(TrafficBuilder::make(static_cast<std::int32_t>(g.line_of_vertex.size())));
  for (std::size_t i = 0; i < g.arcs.size(); ++i) {
    const GraphArc& arc = g.arcs[i];
    if (i > 0 && !before(g.arcs[i - 1], arc))
      return located(g.place(arc.from), wrong_value("a vertex must name each neighbour once",
                                                    fmt::format("{} twice", arc.to + g.base), "add the weights"));
    const auto mirror = std::lower_bound(g.arcs.begin(), g.arcs.end(), GraphArc{arc.to, arc.from, 0}, before);
    const bool exists = mirror != g.arcs.end() && mirror->from == arc.to && mirror->to == arc.from;
    if (!exists || mirror->weight != arc.weight) return wrong_mirror(g, arc, exists ? &*mirror : nullptr);
    if (Status s = builder.add(Rank{arc.from}, Rank{arc.to}, arc.weight, 1); !s)
      return located(g.place(arc.from), s.error());
  }
  Result<Traffic> traffic = std::move(builder).build();
  if (!traffic) return located(std::string(g.file), traffic.error());
  return traffic;
}

} // namespace kumihimo
