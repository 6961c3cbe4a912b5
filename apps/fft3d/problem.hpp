// The grid to transform, its values, and the user's options.
#pragma once

#include "application/request.hpp"
#include "fft/bricks.hpp"
#include "fft/pencils.hpp"
#include "fft/sphere.hpp"
#include "threads/array.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace kumihimo::fft3d {

using Grid = threads::ThreadedArray<fft::Complex>; // a rank's box, bands behind each other

struct FftProblem {
  fft::RankPencils pencils;
  std::int64_t bands = 1, transforms = 1; // pairs of a forward and a backward transform
  double planning_seconds = 0;            // of a plan; 0: it is estimated
  std::optional<fft::Sphere> sphere;      // whose coefficients alone there are
  std::string exchange, library;
  bool single_precision = false; // messages carry floats
  bool profiles = false;         // a table of where the time goes

  double points() const {
    const fft::Triple& n = pencils.points;
    return static_cast<double>(n[0]) * static_cast<double>(n[1]) * static_cast<double>(n[2]);
  }
};

// Errors: a size or an option out of range.
Result<FftProblem> problem_of(const application::ApplicationRequest& request, std::int32_t ranks);

// Of both parts from -1 to 1, by the place in the grid alone: every rank has the values of its own points.
fft::Complex value_at(const fft::Triple& points, std::int64_t band, std::int64_t x, std::int64_t y, std::int64_t z);
// The values of a box, and of columns of the sphere, -reach first; bands behind each other. Error: no memory.
Result<Grid> values_of(const FftProblem& problem, const fft::PointBox& box);
Result<Grid> values_of(const FftProblem& problem, std::span<const std::int32_t> columns);

} // namespace kumihimo::fft3d
