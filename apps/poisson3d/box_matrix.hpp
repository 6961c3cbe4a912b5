// The Poisson equation -div grad u = f by finite volumes on a box of equal cells, 7 points, as in K. Nakajima's ICCG
// programs: the rows of one rank, whose cells are a box of the grid.
//
// Boundary conditions, of which one is chosen:
//   zmax  u = 0 on the face z = zmax, half a cell from the last centres; no flux through the other five faces
//   all   u = 0 one cell outside the grid on all sides: the model problem of solver benchmarks, diagonal 6
#pragma once

#include "application/ghosts.hpp"
#include "application/rank_grid.hpp"
#include "base/result.hpp"
#include "sparse/crs_matrix.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace kumihimo::poisson3d {

enum class Boundary { zmax, all };
enum class RightSide {
  ones,        // f = 1
  manufactured // f of exact()
};

struct CellGrid {
  std::array<std::int64_t, 3> cells{1, 1, 1}; // of all ranks, along x, y and z
  Boundary boundary = Boundary::zmax;

  double edge(std::size_t axis) const; // of a cell, on the unit cube
  // u that meets the boundary conditions: zmax cos(pi x) cos(pi y) cos(pi z / 2), all sin(pi x) sin(pi y) sin(pi z),
  // and f = -div grad u = factor * u.
  double exact(const std::array<std::int64_t, 3>& cell) const;
  double factor() const;
};

// The cells of a rank: cell (i, j, k) of the part is row (k ny + j) nx + i.
struct LocalProblem {
  sparse::CrsMatrix matrix;
  application::Ghosts ghosts;            // in the natural numbering of the rows
  std::vector<double> right_side, exact; // cell volume * f, and the manufactured solution; empty: none is known
};

// Row: sum over faces of area / distance * (u_cell - u_neighbour) = volume * f. Throws std::bad_alloc. Error: a rank
// has more than 2^31 - 1 cells with ghosts.
Result<LocalProblem> make_problem(const CellGrid& grid, const application::RankGrid& ranks, std::int32_t rank,
                                  RightSide right_side);

} // namespace kumihimo::poisson3d
