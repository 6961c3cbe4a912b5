// What fdtd2d computes: the words of a request as numbers.
#pragma once

#include "application/application.hpp"
#include "application/request.hpp"
#include "stencil/fdtd2d/fields.hpp"
#include "stencil/fdtd2d/source.hpp"

#include <cstdint>
#include <span>

namespace kumihimo::fdtd2d {

// A standing wave between metal walls: Ez = sin(pi p x / X) sin(pi q y / Y) at time 0.
struct Mode {
  int p = 3, q = 2;
};

struct WaveProblem {
  FieldShape whole; // all points, on one rank
  WaveSource source;
  bool is_mode = false; // a standing wave, no source and no absorbing layer
  Mode mode;
  std::int64_t steps = 0, planned_steps = 0; // planned: without the limit of iterations, which a sample has
  bool is_float32 = true;
  std::int64_t frames = 0; // pictures of Ez
};

std::span<const application::ApplicationOption> option_rows();
// Half along each axis; none: the size is none, or small.
std::vector<application::ProblemShare> shares(std::string_view size);
// Errors: a size, number or word that is none; a Courant number that is unstable; layers or a source that do not fit.
Result<WaveProblem> problem_of(const application::ApplicationRequest& request);

} // namespace kumihimo::fdtd2d
