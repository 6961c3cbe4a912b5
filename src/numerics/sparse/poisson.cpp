#include "sparse/poisson.hpp"

#include "sparse/memory.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace kumihimo::sparse {

std::array<double, 3> PoissonGrid::centre(std::int64_t row) const {
  const std::int64_t i = row % nx, j = row / nx % ny, k = row / nx / ny;
  return {(static_cast<double>(i) + 0.5) * dx, (static_cast<double>(j) + 0.5) * dy,
          (static_cast<double>(k) + 0.5) * dz};
}

static Status check(const PoissonGrid& grid) {
  for (const std::int32_t n : {grid.nx, grid.ny, grid.nz})
    if (n < 1) return wrong_value("the number of cells in each direction must be 1 or more", n);
  for (const double edge : {grid.dx, grid.dy, grid.dz})
    if (!(edge > 0) || !std::isfinite(edge))
      return wrong_value("the edges of a cell must be positive and finite", fmt::format("{}", edge));
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (std::int64_t{grid.nx} * grid.ny > most || grid.cells() > most)
    return wrong_value(fmt::format("a grid may have {} cells at most", most),
                       fmt::format("{}x{}x{}", grid.nx, grid.ny, grid.nz), "use a smaller grid");
  return Nothing{};
}

static CrsMatrix assemble(const PoissonGrid& grid) {
  const double cx = grid.dy * grid.dz / grid.dx, cy = grid.dx * grid.dz / grid.dy, cz = grid.dx * grid.dy / grid.dz;
  const std::int64_t nx = grid.nx, ny = grid.ny, nz = grid.nz, plane = nx * ny; // row + plane may exceed 31 bits
  CrsMatrix a;
  a.rows = a.columns = static_cast<std::int32_t>(grid.cells());
  a.begin.reserve(static_cast<std::size_t>(a.rows) + 1);
  a.column.reserve(static_cast<std::size_t>(a.rows) * 7);
  a.value.reserve(static_cast<std::size_t>(a.rows) * 7);
  std::int64_t row = 0;
  for (std::int64_t k = 0; k < nz; ++k)
    for (std::int64_t j = 0; j < ny; ++j)
      for (std::int64_t i = 0; i < nx; ++i, ++row) {
        double diagonal = k + 1 == nz ? 2 * cz : 0;
        const auto couple = [&](bool inside, std::int64_t column, double coefficient) {
          if (!inside) return;
          diagonal += coefficient;
          a.column.push_back(static_cast<std::int32_t>(column));
          a.value.push_back(-coefficient);
        };
        couple(k > 0, row - plane, cz);
        couple(j > 0, row - nx, cy);
        couple(i > 0, row - 1, cx);
        const std::size_t own = a.value.size();
        a.column.push_back(static_cast<std::int32_t>(row));
        a.value.push_back(0);
        couple(i + 1 < nx, row + 1, cx);
        couple(j + 1 < ny, row + nx, cy);
        couple(k + 1 < nz, row + plane, cz);
        a.value[own] = diagonal;
        a.begin.push_back(static_cast<std::int64_t>(a.column.size()));
      }
  return a;
}

Result<CrsMatrix> poisson_matrix(const PoissonGrid& grid) {
  TRY(check(grid));
  return within_memory("the Poisson matrix", [&]() -> Result<CrsMatrix> { return assemble(grid); });
}

double manufactured_solution(const std::array<double, 3>& point) {
  constexpr double pi = std::numbers::pi;
  return std::cos(pi * point[0]) * std::cos(pi * point[1]) * std::cos(pi * point[2] / 2);
}

std::vector<double> manufactured_right_side(const PoissonGrid& grid) {
  constexpr double pi = std::numbers::pi;
  std::vector<double> b(static_cast<std::size_t>(grid.cells()));
  for (std::int64_t row = 0; row < grid.cells(); ++row)
    b[row] = grid.volume() * 9 / 4 * pi * pi * manufactured_solution(grid.centre(row));
  return b;
}

} // namespace kumihimo::sparse
