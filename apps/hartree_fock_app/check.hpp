// The check of a run: blocks of G against the golden copy.
#pragma once

#include "application/runtime.hpp"
#include "hartree_fock/scf.hpp"

#include <nlohmann/json.hpp>

namespace kumihimo::hartree_fock_app {

// Compares entries of G of the last density with the golden copy: as many pairs of shells, spread over the matrix, as
// about 2e6 quartets of primitives allow, at least one. Returns the "checked" of a result. Collective; the ranks share
// the pairs.
nlohmann::json check_g_matrix(const hartree_fock::Basis& basis, const hartree_fock::Scf& scf,
                              application::Runtime& runtime);

} // namespace kumihimo::hartree_fock_app
