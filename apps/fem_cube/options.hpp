// The options of fem-cube, read from the words of a request.
#pragma once

#include "application/application.hpp"
#include "application/request.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace kumihimo::fem_cube {

enum class Load {
  stretch,     // the face x = 0 fixed, the face x = 1 moved along x
  body_force,  // the face x = 0 fixed, a force on the volume along -z
  patch,       // a displacement linear in x, y, z prescribed on all faces: elements must find it inside
  manufactured // a smooth displacement, 0 on all faces, and the force that makes it the solution
};
enum class Preconditioning { block_diagonal, gauss_seidel, additive_schwarz };

struct FemOptions {
  Load load = Load::stretch;
  double distortion = 0; // of the mesh, as a share of the distance of nodes
  double spread = 0;     // of Young's modulus between elements
  double poisson_ratio = 0.3;
  Preconditioning preconditioning = Preconditioning::block_diagonal;
  std::optional<std::int64_t> parts; // of additive Schwarz, on a rank; none: 8, or as many as nodes
  int overlap = 1;                   // in layers of nodes
  bool assembly_only = false;
  std::int64_t assemblies = 1; // of a run; its time is their median
};

std::span<const application::ApplicationOption> option_rows();
// Errors: a word that is no number, a value out of range, a load that needs one modulus with several.
Result<FemOptions> options_of(const application::ApplicationRequest& request);

} // namespace kumihimo::fem_cube
