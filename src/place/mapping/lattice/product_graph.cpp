#include "mapping/lattice/product_graph.hpp"

#include "mapping/search/joined.hpp"

#include <algorithm>

namespace kumihimo::mapping {
namespace {

constexpr std::size_t most_neighbours = 12; // of 6 axes

// The place of an edge in `ends`.
std::int32_t edge_of(const Links& links, std::int32_t from, std::int32_t to) {
  const auto ends = links.of(from);
  const auto at = std::lower_bound(ends.begin(), ends.end(), to);
  return static_cast<std::int32_t>(links.first[static_cast<std::size_t>(from)] + (at - ends.begin()));
}

bool has_edge(const Links& links, std::int32_t from, std::int32_t to) {
  const auto ends = links.of(from);
  return std::binary_search(ends.begin(), ends.end(), to);
}

// The neighbour that two neighbours of a vertex share besides it: -1: none, -2: several.
std::int32_t fourth_corner(const Links& links, std::int32_t vertex, std::int32_t a, std::int32_t b) {
  const auto x = links.of(a), y = links.of(b);
  std::int32_t found = -1;
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    if (x[i] < y[j]) {
      ++i;
    } else if (x[i] > y[j]) {
      ++j;
    } else {
      if (x[i] != vertex) {
        if (found >= 0) return -2;
        found = x[i];
      }
      ++i, ++j;
    }
  }
  return found;
}

// Joins edges of the same axis around a vertex; false where this is no grid.
bool relate(const Links& links, std::int32_t vertex, Joined<std::int32_t>& axes) {
  const auto ends = links.of(vertex);
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (std::size_t j = i + 1; j < ends.size(); ++j) {
      const std::int32_t a = ends[i], b = ends[j];
      const std::int32_t corner = fourth_corner(links, vertex, a, b);
      if (corner == -2) return false;
      const auto edge = static_cast<std::int32_t>(links.first[static_cast<std::size_t>(vertex)]);
      if (corner == -1 || has_edge(links, a, b)) {
        axes.join(edge + static_cast<std::int32_t>(i), edge + static_cast<std::int32_t>(j));
        continue;
      }
      axes.join(edge + static_cast<std::int32_t>(i), edge_of(links, b, corner));
      axes.join(edge + static_cast<std::int32_t>(j), edge_of(links, a, corner));
    }
  return true;
}

// Layers: what is left together without the edges of an axis. The coordinate of each layer, in a ring or a path.
struct Layers {
  Axis axis;
  std::vector<std::int32_t> of_vertex; // coordinate on the axis
};

std::optional<Layers> layers_of(const Links& links, std::span<const std::int32_t> axis_of_edge, std::int32_t axis) {
  const auto n = static_cast<std::size_t>(links.vertices());
  Joined<std::int32_t> joined(n);
  for (std::int32_t vertex = 0; vertex < links.vertices(); ++vertex)
    for (auto at = links.first[static_cast<std::size_t>(vertex)];
         at < links.first[static_cast<std::size_t>(vertex) + 1]; ++at)
      if (axis_of_edge[static_cast<std::size_t>(at)] != axis)
        joined.join(vertex, links.ends[static_cast<std::size_t>(at)]);
  std::vector<std::int32_t> layer(n), beside; // two a layer
  std::vector<std::int32_t> number(n, -1);
  std::int32_t layers = 0;
  for (std::size_t vertex = 0; vertex < n; ++vertex) {
    std::int32_t& known = number[static_cast<std::size_t>(joined.find(static_cast<std::int32_t>(vertex)))];
    if (known < 0) known = layers++;
    layer[vertex] = known;
  }
  if (layers < 2 || links.vertices() % layers != 0) return {};
  beside.assign(2 * static_cast<std::size_t>(layers), -1);
  for (std::int32_t vertex = 0; vertex < links.vertices(); ++vertex)
    for (auto at = links.first[static_cast<std::size_t>(vertex)];
         at < links.first[static_cast<std::size_t>(vertex) + 1]; ++at) {
      if (axis_of_edge[static_cast<std::size_t>(at)] != axis) continue;
      const std::int32_t other = layer[static_cast<std::size_t>(links.ends[static_cast<std::size_t>(at)])];
      std::int32_t* const two = beside.data() + 2 * layer[static_cast<std::size_t>(vertex)];
      if (other == layer[static_cast<std::size_t>(vertex)]) return {};
      if (two[0] == other || two[1] == other) continue;
      if (two[0] < 0)
        two[0] = other;
      else if (two[1] < 0)
        two[1] = other;
      else
        return {};
    }
  // Walk from an end of the path, or from layer 0 of the ring.
  std::int32_t start = 0;
  bool is_ring = true;
  for (std::int32_t at = layers; at-- > 0;)
    if (beside[2 * static_cast<std::size_t>(at) + 1] < 0) start = at, is_ring = false;
  std::vector<std::int32_t> coordinate(static_cast<std::size_t>(layers), -1);
  std::int32_t at = start, length = 0;
  while (at >= 0 && coordinate[static_cast<std::size_t>(at)] < 0) {
    coordinate[static_cast<std::size_t>(at)] = length++;
    const std::int32_t* const two = beside.data() + 2 * at;
    at = two[0] >= 0 && coordinate[static_cast<std::size_t>(two[0])] < 0 ? two[0] : two[1];
  }
  if (length != layers) return {};
  Layers found{{layers, is_ring}, std::move(layer)};
  for (std::int32_t& of_vertex : found.of_vertex) of_vertex = coordinate[static_cast<std::size_t>(of_vertex)];
  return found;
}

// Whether all edges join neighbours on one axis, and all places differ.
bool is_grid(const Links& links, const LatticeGrid& grid) {
  std::vector<char> taken(static_cast<std::size_t>(grid.shape.places()), 0);
  for (const std::int32_t place : grid.place_of_vertex) {
    if (taken[static_cast<std::size_t>(place)]) return false;
    taken[static_cast<std::size_t>(place)] = 1;
  }
  for (std::int32_t vertex = 0; vertex < links.vertices(); ++vertex)
    for (const std::int32_t end : links.of(vertex)) {
      std::int32_t steps = 0;
      for (std::int32_t axis = 0; axis < grid.shape.dimensions(); ++axis) {
        const auto [length, wraps] = grid.shape.axes()[static_cast<std::size_t>(axis)];
        const std::int32_t step =
            std::abs(grid.shape.coordinate(grid.place_of_vertex[static_cast<std::size_t>(vertex)], axis) -
                     grid.shape.coordinate(grid.place_of_vertex[static_cast<std::size_t>(end)], axis));
        steps += wraps ? std::min(step, length - step) : step;
      }
      if (steps != 1) return false;
    }
  return true;
}

bool may_be_grid(const Links& links) {
  const std::int32_t vertices = links.vertices();
  if (vertices < 2) return false;
  for (std::int32_t vertex = 0; vertex < vertices; ++vertex)
    if (links.of(vertex).empty() || links.of(vertex).size() > most_neighbours) return false;
  return true;
}

} // namespace

std::optional<LatticeGrid> grid_of(const Links& links) {
  if (!may_be_grid(links)) return {};
  Joined<std::int32_t> axes(links.ends.size());
  for (std::int32_t vertex = 0; vertex < links.vertices(); ++vertex) {
    if (!relate(links, vertex, axes)) return {};
    for (const std::int32_t end : links.of(vertex))
      if (end > vertex) axes.join(edge_of(links, vertex, end), edge_of(links, end, vertex));
  }
  std::vector<std::int32_t> axis_of_edge(links.ends.size()), number(links.ends.size(), -1);
  std::int32_t count = 0;
  for (std::size_t edge = 0; edge < links.ends.size(); ++edge) {
    std::int32_t& known = number[static_cast<std::size_t>(axes.find(static_cast<std::int32_t>(edge)))];
    if (known < 0) known = count++;
    axis_of_edge[edge] = known;
    if (count > 16) return {};
  }
  std::vector<Layers> layers;
  std::int64_t places = 1;
  for (std::int32_t axis = 0; axis < count; ++axis) {
    std::optional<Layers> found = layers_of(links, axis_of_edge, axis);
    if (!found) return {};
    places *= found->axis.length;
    if (places > links.vertices()) return {};
    layers.push_back(std::move(*found));
  }
  if (places != links.vertices()) return {};
  std::stable_sort(layers.begin(), layers.end(),
                   [](const Layers& a, const Layers& b) { return a.axis.length > b.axis.length; });
  std::vector<Axis> lengths;
  for (const Layers& axis : layers) lengths.push_back(axis.axis);
  LatticeGrid grid{Shape(lengths), std::vector<std::int32_t>(static_cast<std::size_t>(links.vertices()), 0)};
  for (std::size_t axis = 0; axis < layers.size(); ++axis)
    for (std::size_t vertex = 0; vertex < grid.place_of_vertex.size(); ++vertex)
      grid.place_of_vertex[vertex] +=
          grid.shape.stride(static_cast<std::int32_t>(axis)) * layers[axis].of_vertex[vertex];
  if (!is_grid(links, grid)) return {};
  return grid;
}

} // namespace kumihimo::mapping
