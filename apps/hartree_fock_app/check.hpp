// The check of a run: blocks of G against the golden copy.
#pragma once

#include "application/runtime.hpp"
#include "hartree_fock/scf.hpp"
#include "hartree_fock_app/problem.hpp"

#include <nlohmann/json_fwd.hpp>

namespace kumihimo::hartree_fock_app {

// Compares entries of G of the last density with the golden copy: diagonal blocks of the heaviest atoms, where G is
// large, and blocks spread over the matrix, at least one. They have 2e6 quartets of primitives for each rank, or a
// thousandth of `scf_primitives`, those of a rank in the SCF, if that is more. A sample without large entries is wrong.
// Returns the "checked" of a result. Collective; the ranks share the blocks.
nlohmann::json check_g_matrix(const MoleculeProblem& problem, const hartree_fock::Scf& scf, double scf_primitives,
                              application::Runtime& runtime);

} // namespace kumihimo::hartree_fock_app
