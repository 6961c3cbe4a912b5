#include "fem/grid.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace kumihimo::fem {
namespace {

// A row of the matrix has up to 27 blocks, which 32-bit addresses number.
constexpr std::int64_t most_nodes = std::numeric_limits<std::int32_t>::max() / 27;

template <class Visit>
void for_each_local(const NodeGrid& grid, Visit visit) {
  for (std::int64_t z = 0; z < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x < grid.extent[0]; ++x)
        visit(Triple{grid.begin[0] + x, grid.begin[1] + y, grid.begin[2] + z});
}

} // namespace

bool NodeGrid::owns(const Triple& at) const {
  for (std::size_t a = 0; a < 3; ++a)
    if (at[a] < low[a] || at[a] >= low[a] + box[a]) return false;
  return true;
}

Result<NodeGrid> part_of_cube(const Triple& nodes, const Triple& low, const Triple& box) {
  NodeGrid grid{nodes, low, box, {}, {}};
  double total = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (nodes[a] < 2) return wrong_value("the cube needs at least 2 nodes on each axis", nodes[a]);
    if (box[a] < 1 || low[a] < 0 || low[a] > nodes[a] - box[a])
      return wrong_value("the box must be within the " + std::to_string(nodes[a]) + " nodes of an axis",
                         std::to_string(box[a]) + " from " + std::to_string(low[a]) + " on");
    grid.begin[a] = std::max<std::int64_t>(low[a] - 1, 0);
    grid.extent[a] = std::min(low[a] + box[a] + 1, nodes[a]) - grid.begin[a];
    total *= static_cast<double>(grid.extent[a]);
  }
  if (total > static_cast<double>(most_nodes))
    return wrong_value("a process can have at most " + std::to_string(most_nodes) + " nodes with its ghosts",
                       static_cast<std::int64_t>(total), "use more processes");
  return grid;
}

Result<NodeGrid> box_of_cube(const Triple& box, const Triple& processes, const Triple& at) {
  Triple nodes{}, low{};
  for (std::size_t a = 0; a < 3; ++a) {
    if (processes[a] < 1) return wrong_value("the number of processes on an axis must be at least 1", processes[a]);
    if (at[a] < 0 || at[a] >= processes[a])
      return wrong_value("the place of a process must be 0 to " + std::to_string(processes[a] - 1), at[a]);
    if (box[a] < 1 || box[a] > most_nodes || (processes[a] == 1 && box[a] < 2))
      return wrong_value("the cube needs at least 2 nodes on each axis", box[a]);
    nodes[a] = box[a] * processes[a];
    low[a] = box[a] * at[a];
  }
  return part_of_cube(nodes, low, box);
}

Result<NodeGrid> whole_cube(std::int64_t n) { return box_of_cube({n, n, n}, {1, 1, 1}, {0, 0, 0}); }

std::vector<std::int32_t> local_numbers(const NodeGrid& grid) {
  std::vector<std::int32_t> numbers;
  numbers.reserve(static_cast<std::size_t>(grid.local()));
  std::int32_t owned = 0;
  auto ghost = static_cast<std::int32_t>(grid.owned());
  for_each_local(grid, [&](const Triple& at) { numbers.push_back(grid.owns(at) ? owned++ : ghost++); });
  return numbers;
}

HaloCells halo_cells(const NodeGrid& grid) {
  HaloCells cells;
  const std::vector<std::int32_t> numbers = local_numbers(grid);
  std::size_t i = 0;
  for_each_local(grid, [&](const Triple& at) {
    Triple cell;
    bool beside_ghost = false;
    for (std::size_t a = 0; a < 3; ++a) {
      cell[a] = at[a] - grid.low[a] + 1;
      beside_ghost = beside_ghost || (at[a] == grid.low[a] && at[a] > 0) ||
                     (at[a] == grid.low[a] + grid.box[a] - 1 && at[a] + 1 < grid.nodes[a]);
    }
    const HaloCell found{numbers[i++], cell[0] + (grid.box[0] + 2) * (cell[1] + (grid.box[1] + 2) * cell[2])};
    if (!grid.owns(at))
      cells.received.push_back(found);
    else if (beside_ghost)
      cells.sent.push_back(found);
  });
  return cells;
}

} // namespace kumihimo::fem
