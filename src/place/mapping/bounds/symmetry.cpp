#include "mapping/bounds/symmetry.hpp"

#include "mapping/search/joined.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace kumihimo::mapping {
namespace {

std::optional<std::size_t> find_edge(const TrafficGraph& graph, std::int32_t from, std::int32_t to) {
  const std::span<const TrafficGraph::Edge> edges = graph.of(from);
  const auto found = std::lower_bound(edges.begin(), edges.end(), to,
                                      [](const TrafficGraph::Edge& edge, std::int32_t rank) { return edge.to < rank; });
  if (found == edges.end() || found->to != to) return {};
  return static_cast<std::size_t>(graph.first[static_cast<std::size_t>(from)] + (found - edges.begin()));
}

// Takes the edges looked at, and one a rank, from `terms`.
bool leaves_as_it_is(const TrafficGraph& graph, const auto& image, std::int64_t& terms) {
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) {
    --terms;
    if (graph.degree(image(rank)) != graph.degree(rank)) return false;
    for (const TrafficGraph::Edge& edge : graph.of(rank)) {
      --terms;
      const std::optional<std::size_t> found = find_edge(graph, image(rank), image(edge.to));
      if (!found || graph.edges[*found].bytes != edge.bytes) return false;
    }
  }
  return true;
}

bool leaves_as_it_is(const TrafficGraph& graph, const auto& image) {
  std::int64_t terms = 0;
  return leaves_as_it_is(graph, image, terms);
}

Renumbering renumbering_by(std::int32_t ranks, const auto& image) {
  Renumbering all(static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) all[static_cast<std::size_t>(rank)] = image(rank);
  return all;
}

// All masks for which exclusive or is a symmetry form a group; this is a basis.
std::vector<Renumbering> masks(const TrafficGraph& graph, std::int64_t terms, const Tools& tools) {
  const std::int32_t ranks = graph.ranks();
  std::vector<Renumbering> all;
  if (!std::has_single_bit(static_cast<std::uint32_t>(ranks))) return all;
  std::vector<std::int32_t> basis(32, 0); // by its highest bit
  for (std::int32_t mask = 1; mask < ranks && terms > 0 && !tools.stop(); ++mask) {
    std::int32_t rest = mask;
    while (rest != 0) {
      const auto bit = static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(rest)) - 1);
      if (basis[bit] == 0) break;
      rest ^= basis[bit];
    }
    if (rest == 0) continue;
    const auto image = [mask](std::int32_t rank) { return rank ^ mask; };
    if (!leaves_as_it_is(graph, image, terms)) continue;
    basis[static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(rest)) - 1)] = rest;
    all.push_back(renumbering_by(ranks, image));
  }
  return all;
}

std::int32_t with_bits_exchanged(std::int32_t rank, int one, int two) {
  const std::int32_t differ = ((rank >> one) ^ (rank >> two)) & 1;
  return rank ^ (differ << one) ^ (differ << two);
}

// Exchanges of neighbouring binary digits; alone, or together with those half of the digits further up.
std::vector<Renumbering> exchanges_of_bits(const TrafficGraph& graph) {
  const std::int32_t ranks = graph.ranks();
  std::vector<Renumbering> all;
  if (!std::has_single_bit(static_cast<std::uint32_t>(ranks))) return all;
  const int bits = std::bit_width(static_cast<std::uint32_t>(ranks)) - 1;
  for (int bit = 0; bit + 1 < bits; ++bit)
    for (const int further : {0, bits / 2}) {
      if (bit + 1 + further >= bits) continue;
      const auto image = [=](std::int32_t rank) {
        rank = with_bits_exchanged(rank, bit, bit + 1);
        return further > 0 ? with_bits_exchanged(rank, bit + further, bit + 1 + further) : rank;
      };
      if (leaves_as_it_is(graph, image)) all.push_back(renumbering_by(ranks, image));
    }
  return all;
}

std::vector<Renumbering> steps_of_grid(const Shape& grid, std::span<const std::int32_t> rank_at,
                                       std::span<const std::int32_t> place_of) {
  std::vector<Renumbering> all;
  for (std::int32_t axis = 0; axis < grid.dimensions(); ++axis) {
    const auto [length, wraps] = grid.axes()[static_cast<std::size_t>(axis)];
    if (length == 1) continue;
    all.push_back(renumbering_by(grid.places(), [&, length = length, wraps = wraps](std::int32_t rank) {
      const std::int32_t place = place_of[static_cast<std::size_t>(rank)];
      const std::int32_t steps = wraps ? 1 : length - 1 - 2 * grid.coordinate(place, axis);
      return rank_at[static_cast<std::size_t>(grid.shifted(place, axis, steps))];
    }));
  }
  return all;
}

} // namespace

bool is_symmetry(const TrafficGraph& graph, const Renumbering& renumbering) {
  return leaves_as_it_is(graph, [&](std::int32_t rank) { return renumbering[static_cast<std::size_t>(rank)]; });
}

std::vector<Renumbering> steps_of(const Lattice& lattice) {
  const std::vector<std::int32_t>& place_of = lattice.place_of_rank;
  if (static_cast<std::int32_t>(place_of.size()) != lattice.shape.places()) return {};
  std::vector<std::int32_t> rank_at(place_of.size(), -1);
  for (std::size_t rank = 0; rank < place_of.size(); ++rank) {
    const std::int32_t place = place_of[rank];
    if (place < 0 || place >= lattice.shape.places() || rank_at[static_cast<std::size_t>(place)] >= 0) return {};
    rank_at[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(rank);
  }
  return steps_of_grid(lattice.shape, rank_at, place_of);
}

std::vector<Renumbering> symmetries_of_numbers(const TrafficGraph& graph, const std::optional<Shape>& grid,
                                               std::int64_t terms, const Tools& tools) {
  const std::int32_t ranks = graph.ranks();
  std::vector<Renumbering> all = masks(graph, terms, tools);
  if (tools.stop()) return all;
  for (Renumbering& exchange : exchanges_of_bits(graph)) all.push_back(std::move(exchange));
  const auto keep = [&](Renumbering renumbering) {
    const bool kept = is_symmetry(graph, renumbering);
    if (kept) all.push_back(std::move(renumbering));
    return kept;
  };
  for (std::int32_t shift = 1; shift < ranks; ++shift)
    if (ranks % shift == 0 && keep(renumbering_by(ranks, [&](std::int32_t rank) { return (rank + shift) % ranks; })))
      break;
  keep(renumbering_by(ranks, [&](std::int32_t rank) { return ranks - 1 - rank; }));
  if (grid && grid->places() == ranks) {
    std::vector<std::int32_t> same(static_cast<std::size_t>(ranks));
    std::iota(same.begin(), same.end(), 0);
    for (Renumbering& step : steps_of_grid(*grid, same, same)) keep(std::move(step));
  }
  return all;
}

SymmetricPart symmetric_part(const TrafficGraph& graph, std::span<const Renumbering> renumberings) {
  const auto ranks = static_cast<std::size_t>(graph.ranks());
  Joined<std::size_t> arcs(graph.edges.size()), sources(ranks);
  std::vector<char> incomplete(graph.edges.size(), 0);
  std::vector<std::int64_t> next(graph.first.begin(), graph.first.end() - 1);
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank)
    for (auto at = static_cast<std::size_t>(graph.first[static_cast<std::size_t>(rank)]);
         at < static_cast<std::size_t>(graph.first[static_cast<std::size_t>(rank) + 1]); ++at) {
      // The ends of an edge: edges ascend, so mirrors come in order.
      arcs.join(at, static_cast<std::size_t>(next[static_cast<std::size_t>(graph.edges[at].to)]++));
      for (const Renumbering& renumbering : renumberings) {
        const auto image = find_edge(graph, renumbering[static_cast<std::size_t>(rank)],
                                     renumbering[static_cast<std::size_t>(graph.edges[at].to)]);
        if (image)
          arcs.join(at, *image);
        else
          incomplete[at] = 1;
      }
    }
  for (const Renumbering& renumbering : renumberings)
    for (std::size_t rank = 0; rank < ranks; ++rank) sources.join(rank, static_cast<std::size_t>(renumbering[rank]));

  std::vector<SymmetricPart::Orbit> orbits(graph.edges.size());
  for (std::size_t at = 0; at < graph.edges.size(); ++at) {
    SymmetricPart::Orbit& orbit = orbits[arcs.find(at)];
    const std::int64_t bytes = graph.edges[at].bytes;
    orbit.bytes = orbit.edges == 0 ? bytes : std::min(orbit.bytes, bytes);
    ++orbit.edges;
  }
  for (std::size_t at = 0; at < graph.edges.size(); ++at)
    if (incomplete[at]) orbits[arcs.find(at)].bytes = 0;

  SymmetricPart part;
  std::vector<std::int32_t> number(graph.edges.size(), -1);
  part.first.assign(1, 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (auto at = static_cast<std::size_t>(graph.first[rank]); at < static_cast<std::size_t>(graph.first[rank + 1]);
         ++at) {
      const std::size_t root = arcs.find(at);
      if (orbits[root].bytes == 0) continue;
      if (number[root] < 0) {
        number[root] = static_cast<std::int32_t>(part.orbits.size());
        part.orbits.push_back({orbits[root].bytes, orbits[root].edges / 2});
      }
      part.arcs.push_back({graph.edges[at].to, number[root]});
    }
    part.first.push_back(static_cast<std::int64_t>(part.arcs.size()));
  }
  std::vector<std::int64_t> orbit_of(ranks, 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) ++orbit_of[sources.find(rank)];
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (orbit_of[rank] > 0) part.sources.push_back({static_cast<std::int32_t>(rank), orbit_of[rank]});
  return part;
}

} // namespace kumihimo::mapping
