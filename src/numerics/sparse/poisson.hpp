// The Poisson equation -div grad u = f by finite volumes, as in K. Nakajima's ICCG programs ("poisson3d"): a box of
// nx * ny * nz equal cells with one unknown at each centre, 7 points.
//
// Boundary conditions: u = 0 on the face z = zmax (Dirichlet; the face is half a cell from the last centres); no flux
// through the other five faces (Neumann). So the matrix is symmetric positive definite without eliminated rows.
//
// Tests and the benchmark of this layer need it below apps/. The application poisson3d makes the same matrix for the
// box of one rank, with ghosts and other boundary conditions; its tests compare the two.
#pragma once

#include "sparse/crs_matrix.hpp"

#include <array>
#include <vector>

namespace kumihimo::sparse {

struct PoissonGrid {
  std::int32_t nx = 1, ny = 1, nz = 1;
  double dx = 1, dy = 1, dz = 1; // edges of a cell

  std::int64_t cells() const { return std::int64_t{nx} * ny * nz; }
  double volume() const { return dx * dy * dz; }
  // Cell (i, j, k) is row (k ny + j) nx + i. Its centre:
  std::array<double, 3> centre(std::int64_t row) const;
};

// Row: sum over faces of area / distance * (u_cell - u_neighbour) = volume * f. Error: an edge or a number of cells is
// not positive, there are more than 2^31 - 1 cells, or not enough memory.
Result<CrsMatrix> poisson_matrix(const PoissonGrid& grid);

// On the unit cube: u = cos(pi x) cos(pi y) cos(pi z / 2) meets the boundary conditions, with f = 9/4 pi^2 u.
double manufactured_solution(const std::array<double, 3>& point);
std::vector<double> manufactured_right_side(const PoissonGrid& grid); // volume * f at the centres

} // namespace kumihimo::sparse
