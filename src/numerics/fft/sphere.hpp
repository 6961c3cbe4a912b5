// Coefficients of plane waves: those frequencies of a grid that lie in a sphere, in columns along z. Codes of plane
// waves (CASTEP, Quantum ESPRESSO) transform bands of them to the grid and back. Columns that the sphere does not touch
// are neither transformed nor sent.
#pragma once

#include "base/result.hpp"
#include "fft/bricks.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::fft {

// Frequencies (x, y, kz), kz from -reach to reach; x and y as places in the grid, where -1 is the last one.
struct WaveColumn {
  std::int64_t x = 0, y = 0, reach = 0;
  std::int64_t coefficients() const { return 2 * reach + 1; }
};

struct Sphere {
  Triple points{};
  double radius = 0;
  std::vector<WaveColumn> columns;  // by x, then by y
  std::vector<std::int64_t> planes; // the x that have columns, ascending

  static constexpr std::int64_t most_radius = 2048; // 13 million columns, whose list is on each rank
  // All frequencies with kx^2 + ky^2 + kz^2 <= radius^2. Error: a negative radius, or one that the grid cannot hold, as
  // 2 radius + 1 points are needed along each axis; more than most_radius.
  static Result<Sphere> make(const Triple& points, double radius);
  std::int64_t coefficients() const;
};

// The columns of each rank, ascending: the longest first to the rank with the fewest coefficients so far.
std::vector<std::vector<std::int32_t>> deal_columns(const Sphere& sphere, std::int32_t ranks);

// The place along z of frequency k of n.
inline std::int64_t place_of(std::int64_t k, std::int64_t n) { return k < 0 ? k + n : k; }

// Between the coefficients of a column, -reach first, and its whole line, whose other points `expand` sets to zero.
void expand(const WaveColumn& column, const Complex* coefficients, Complex* line, std::int64_t n);
void restrict_to(const WaveColumn& column, const Complex* line, std::int64_t n, Complex* coefficients);

} // namespace kumihimo::fft
