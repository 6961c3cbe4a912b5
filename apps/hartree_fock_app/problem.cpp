#include "hartree_fock_app/problem.hpp"

#include "base/text_file.hpp"
#include "base/text_parsing.hpp"
#include "hartree_fock/built_in.hpp"
#include "hartree_fock/xyz.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <set>

namespace kumihimo::hartree_fock_app {

using application::ApplicationOption, application::ApplicationRequest;

namespace {

constexpr std::string_view no_or_yes[] = {"no", "yes"};
constexpr ApplicationOption rows[] = {
    {"molecule", "XYZ file, in angstrom, in place of a size", "FILE", "", {}, true},
    {"basis", "basis set: sto-3g or 6-31g (H, C, N, O), or a .gbs file", "NAME", "sto-3g"},
    {"charge", "charge of the molecule", "N", "0"},
    {"multiplicity", "1 keeps a closed shell that has a triplet below it", "N"},
    {"screening", "integrals times density below this are left out", "HARTREE", "1e-12"},
    {"incremental", "build G from the change of the density", "YES", "yes", no_or_yes},
    {"units", "time each unit of work in N builds on one thread, for simulate app", "N", "0"},
    {"reproducible", "the same bits with any number of threads and ranks", "YES", "no", no_or_yes},
};
constexpr int most_charge = 1000;
// With more, errors of increments of G exceed the bound of check.cpp, and then the tolerance of the commutator.
constexpr double most_screening = 1e-10;
constexpr int most_rounds = 1000;
constexpr std::int64_t most_bytes = 64 << 20;

Result<std::int64_t> charge_of(const ApplicationRequest& request) {
  std::string_view word = request.option("charge");
  take(word, "+");
  std::int64_t charge = 0;
  if (!read_number(word, charge) || charge < -most_charge || charge > most_charge)
    return wrong_value(fmt::format("charge must be an integer from -{} to {}", most_charge, most_charge),
                       fmt::format("'{}'", request.option("charge")));
  return charge;
}

Result<int> rounds_of(const ApplicationRequest& request) {
  int rounds = 0;
  if (!read_number(request.option("units"), rounds) || rounds < 0 || rounds > most_rounds)
    return wrong_value(fmt::format("units must be a number of builds from 0 to {}", most_rounds),
                       fmt::format("'{}'", request.option("units")));
  return rounds;
}

Result<hartree_fock::Molecule> molecule_of(const ApplicationRequest& request) {
  if (const std::string& given = request.option("multiplicity"); !given.empty() && given != "1")
    return wrong_value("restricted Hartree-Fock needs closed shells, so a multiplicity of 1",
                       fmt::format("'{}'", given), "take a program for open shells");
  const auto charge = static_cast<int>(TRY(charge_of(request)));
  const std::string& file = request.option("molecule");
  hartree_fock::Molecule molecule;
  if (file.empty()) {
    molecule = TRY(hartree_fock::built_in_molecule(request.size));
    molecule.charge = charge;
  } else {
    const std::string text = TRY(read_text(file, {"the molecule", most_bytes, "check the path"}));
    molecule = TRY(hartree_fock::parse_xyz(file, text, charge));
  }
  if (Status s = check(molecule); !s) return s.error();
  return molecule;
}

Result<hartree_fock::BasisSet> basis_set_of(const ApplicationRequest& request, const hartree_fock::Molecule& molecule) {
  const std::string& name = request.option("basis");
  if (const hartree_fock::BasisSet* found = hartree_fock::built_in_basis_set(name)) return *found;
  if (!name.ends_with(".gbs") && !name.ends_with(".g94")) // as the Basis Set Exchange and libint name them
    return wrong_value(
        fmt::format("basis must be {} or a .gbs file", fmt::join(hartree_fock::built_in_basis_sets(), ", ")),
        fmt::format("'{}'", name));
  const std::string text = TRY(read_text(name, {"the basis set", most_bytes, "check the path"}));
  std::set<int> elements;
  for (const hartree_fock::Atom& atom : molecule.atoms) elements.insert(atom.number);
  return hartree_fock::parse_basis_set(name, text, elements);
}

Result<double> threshold_of(const ApplicationRequest& request) {
  const std::string& word = request.option("screening");
  double threshold = 0;
  if (!read_number(word, threshold) || !(threshold >= 0 && threshold <= most_screening))
    return wrong_value(fmt::format("screening must be from 0 to {:g} hartree", most_screening),
                       fmt::format("'{}'", word));
  return threshold;
}

} // namespace

std::span<const ApplicationOption> option_rows() { return rows; }

Result<MoleculeProblem> make_problem(const ApplicationRequest& request) {
  MoleculeProblem problem;
  problem.options.threshold = TRY(threshold_of(request));
  problem.options.timed_rounds = TRY(rounds_of(request));
  problem.options.incremental = request.option("incremental") == "yes";
  problem.options.reproducible = request.option("reproducible") == "yes";
  problem.options.may_have_lower_triplet = !request.option("multiplicity").empty();
  problem.molecule = TRY(molecule_of(request));
  problem.set = TRY(basis_set_of(request, problem.molecule));
  problem.basis = TRY(hartree_fock::make_basis(problem.molecule, problem.set));
  return problem;
}

} // namespace kumihimo::hartree_fock_app
