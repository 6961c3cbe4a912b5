// One solve by the method and the variant of a request.
#pragma once

#include "application/request.hpp"
#include "application/runtime.hpp"
#include "base/json_member.hpp"
#include "poisson3d/local_system.hpp"

#include <span>
#include <vector>

namespace kumihimo::poisson3d {

struct Solved {
  std::int64_t iterations = 0;
  bool converged = false;
  std::vector<double> history; // |r| / |b| before the first iteration and after each
  // How far |b - A x| / |b| may be above the last of `history` by rounding: 0 where it was computed from x.
  double deviation = 0;
  JsonMember facts; // of the method
};

struct MatrixNorms {
  double infinity = 0;    // |A|, over all ranks
  double longest_row = 0; // entries
};

// From x = 0, in the variant's numbering. The golden copy with the method cg runs the loops of the textbooks; a
// variant of a transformed system, with cg on one rank, solves that. All others run the methods of src/krylov.
// Collective. Errors: those of the methods; all ranks get the same.
Result<Solved> solve(const application::ApplicationRequest& request, PoissonSystem& system, krylov::Sums& sums,
                     std::span<const double> b, std::span<double> x, const MatrixNorms& norms,
                     application::Runtime& runtime);

} // namespace kumihimo::poisson3d
