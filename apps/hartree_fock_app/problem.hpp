// What is solved: the molecule and its basis, as a request names them.
#pragma once

#include "application/application.hpp"
#include "application/request.hpp"
#include "hartree_fock/basis.hpp"

#include <span>

namespace kumihimo::hartree_fock_app {

struct HartreeFockOptions {
  double threshold = 1e-12; // of screening
  bool incremental = true;
  bool reproducible = false;
  int timed_rounds = 0;                // of units of work
  bool may_have_lower_triplet = false; // multiplicity=1 is stated
};

struct MoleculeProblem {
  hartree_fock::Molecule molecule;
  hartree_fock::BasisSet set;
  hartree_fock::Basis basis;
  HartreeFockOptions options;
};

std::span<const application::ApplicationOption> option_rows();
// Local: reads the files that the request names. Errors: those of the files; of the molecule (hartree_fock::check());
// of the words of options.
Result<MoleculeProblem> make_problem(const application::ApplicationRequest& request);

} // namespace kumihimo::hartree_fock_app
