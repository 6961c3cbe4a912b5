// The grid to transform, its values, and the user's options.
#pragma once

#include "application/request.hpp"
#include "distributed_fft/distributed_fft.hpp"
#include "fft/bricks.hpp"
#include "fft/pencils.hpp"
#include "fft/sphere.hpp"
#include "threads/array.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kumihimo::fft3d {

using Grid = threads::ThreadedArray<fft::Complex>; // a rank's box, bands behind each other
using Reals = threads::ThreadedArray<double>;      // the same of a real grid

struct FftProblem {
  fft::RankPencils pencils; // of the grid
  distributed_fft::GridKind kind = distributed_fft::GridKind::complex;
  std::int64_t bands = 1, transforms = 1; // pairs of a forward and a backward transform
  double planning_seconds = 0;            // of a plan; 0: it is estimated
  std::optional<fft::Sphere> sphere;      // whose coefficients alone there are
  std::string exchange, library;
  bool single_precision = false; // messages carry floats
  bool profiles = false;         // a table of where the time goes

  bool is_real() const { return kind == distributed_fft::GridKind::real; }
  fft::RankPencils spectrum() const { return spectrum_of(pencils, kind); }
  // Of each rank of a transform of a sphere: all x and y of a part of z.
  std::vector<fft::PointBox> parts_of_z(std::int32_t ranks) const {
    return fft::RankPencils{pencils.points, 1, ranks}.boxes(1);
  }
  double points() const {
    const fft::Triple& n = pencils.points;
    return static_cast<double>(n[0]) * static_cast<double>(n[1]) * static_cast<double>(n[2]);
  }
};

application::Application description(); // the row of the application

// Errors: a size or an option out of range.
Result<FftProblem> problem_of(const application::ApplicationRequest& request, std::int32_t ranks);

// Of both parts from -1 to 1, by the place in the grid alone: every rank has the values of its own points. Those of
// real grids are the real parts.
fft::Complex value_at(const FftProblem& problem, std::int64_t band, std::int64_t x, std::int64_t y, std::int64_t z);
// The values of a box, and of columns of the sphere, -reach first; bands behind each other. Error: no memory.
Result<Grid> values_of(const FftProblem& problem, const fft::PointBox& box);
Result<Reals> reals_of(const FftProblem& problem, const fft::PointBox& box);
Result<Grid> values_of(const FftProblem& problem, std::span<const std::int32_t> columns);

} // namespace kumihimo::fft3d
