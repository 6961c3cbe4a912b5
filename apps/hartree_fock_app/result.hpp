// A solved SCF as the frame shows it: figures, facts, tables and charts.
#pragma once

#include "hartree_fock/scf.hpp"
#include "hartree_fock_app/problem.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <vector>

namespace kumihimo::hartree_fock_app {

// The fields of docs/applications.md that tell of the molecule. `classes`: of all ranks.
nlohmann::json to_json(const MoleculeProblem& problem, const hartree_fock::ScfProblem& start,
                       const hartree_fock::Scf& scf, const std::vector<hartree_fock::ClassWork>& classes);
// `parts` of docs/applications.md: the classes, of so many builds, beside what was published for six of them.
nlohmann::json parts_of(const std::vector<hartree_fock::ClassWork>& classes, std::size_t builds, bool on_accelerator);

} // namespace kumihimo::hartree_fock_app
