#include "mapping/lattice/dense_grids.hpp"
#include "mapping/lattice/face_graphs.hpp"
#include "mapping/lattice/lattice.hpp"
#include "mapping/lattice/offsets.hpp"

#include <algorithm>
#include <tuple>

namespace kumihimo::mapping {
namespace {

constexpr std::size_t most_lattices = 4;

void add_grid(const TrafficGraph& graph, std::optional<LatticeGrid> grid, std::vector<Lattice>& found) {
  if (!grid) return;
  for (const Lattice& known : found)
    if (known.shape == grid->shape) return;
  found.push_back(lattice_of(graph, std::move(grid->shape), std::move(grid->place_of_vertex)));
}

// Adds one of several tori: one without a twist, else the one that has most bytes between neighbours, however ranks are
// numbered.
void add_triangular_torus(const TrafficGraph& graph, std::vector<TriangularTorus> tori, std::vector<Lattice>& found) {
  const auto rank = [](const Lattice& torus) {
    return std::tuple(!torus.is_twisted, torus.covered, -torus.shape.length(0));
  };
  std::optional<Lattice> best;
  for (TriangularTorus& torus : tori) {
    Lattice lattice = lattice_of(graph, std::move(torus.grid.shape), std::move(torus.grid.place_of_vertex));
    lattice.is_twisted = torus.is_twisted;
    if (!best || rank(lattice) > rank(*best)) best = std::move(lattice);
  }
  if (best) found.push_back(*std::move(best));
}

void add_dense_grid(const TrafficGraph& graph, const Links& links, std::vector<Lattice>& found) {
  add_triangular_torus(graph, triangular_tori_of(links), found);
  if (!found.empty()) return;
  auto rows = rows_and_columns_of(links);
  if (!rows) return;
  add_grid(graph, std::move(rows), found);
  found.back().has_full_rows = true;
}

// Ranks of a halo have few different numbers of neighbours: one for each kind of edge of the grid.
bool may_have_diagonals(const Links& links) {
  std::vector<std::size_t> degrees;
  for (std::int32_t vertex = 0; vertex < links.vertices(); ++vertex) {
    const std::size_t degree = links.of(vertex).size();
    if (std::find(degrees.begin(), degrees.end(), degree) == degrees.end()) degrees.push_back(degree);
    if (degrees.size() > 16) return false;
  }
  return *std::max_element(degrees.begin(), degrees.end()) >= 5;
}

} // namespace

std::vector<Lattice> recognise(const TrafficGraph& graph) {
  std::vector<Lattice> found;
  if (graph.ranks() < 4 || graph.edges.empty()) return found;
  const std::vector<Links> parts = heavy_parts(graph);
  for (const Links& part : parts)
    if (found.size() < most_lattices) add_grid(graph, grid_of(part), found);
  if (found.empty()) add_dense_grid(graph, links_of_at_least(graph, 0), found);
  for (std::size_t at = 0; at < parts.size() && found.empty(); ++at)
    if (may_have_diagonals(parts[at]))
      if (const Links faces = skeleton(parts[at]); faces.ends.size() < parts[at].ends.size() && is_connected(faces))
        add_grid(graph, grid_of(faces), found);
  for (std::size_t axes = 1; axes <= 5 && found.empty(); ++axes)
    if (const Links faces = heaviest_of_each(graph, 2 * axes); is_connected(faces))
      add_grid(graph, grid_of(faces), found);
  std::stable_sort(found.begin(), found.end(),
                   [](const Lattice& a, const Lattice& b) { return a.covered > b.covered; });
  return found;
}

} // namespace kumihimo::mapping
