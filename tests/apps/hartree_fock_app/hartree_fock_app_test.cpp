// hartree-fock over ranks and threads: every variant against PySCF 2.14's energies, repeatable sums, the check of G,
// and what is refused.
#include "application/request.hpp"
#include "applications.hpp"
#include "hartree_fock/golden.hpp"
#include "hartree_fock_app/check.hpp"
#include "hartree_fock_app/lanes_variants.hpp"
#include "hartree_fock_app/problem.hpp"
#include "hartree_fock_app/variant.hpp"
#include "loopback/loopback_processes.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <mutex>
#include <set>

namespace kumihimo::hartree_fock_app {
namespace {

using application::RequestedVariant, application::Processes, application::ApplicationRequest,
    application::run_processes, application::Runtime;
using nlohmann::json;

constexpr double same = 1e-8; // hartree: how far energies of any variant may be from PySCF's

struct Asked {
  std::string size = "w2", variant = "golden";
  std::map<std::string, std::string> options = {};
  std::int32_t ranks = 1;
  int threads = 1;
  std::int64_t most_iterations = 100;
  bool may_stop_early = false, checks = false;
};

ApplicationRequest request_of(const Asked& asked) {
  ApplicationRequest request;
  request.application = *find_application(applications(), "hartree-fock");
  request.size = asked.size;
  for (const application::ApplicationOption& option : request.application->options)
    request.options.emplace(option.name, option.default_value);
  for (const auto& [name, value] : asked.options) request.options[name] = value;
  for (const VariantDescription& each : request.application->variants)
    if (each.name == asked.variant) request.candidate = {&each, with_defaults(each.parameters)};
  request.most_iterations = asked.most_iterations;
  request.may_stop_early = asked.may_stop_early;
  request.checks = asked.checks;
  return request;
}

Result<json> solve(const Asked& asked) {
  json found;
  std::mutex mutex;
  const ApplicationRequest request = request_of(asked);
  const auto [status, printed] = run_processes(asked.ranks, true, 7, [&](Processes& processes) -> Status {
    if (Status s = threads::use(asked.threads); !s) return s;
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    Result<json> mine = request.application->run(request, *runtime);
    if (Status s = runtime->agree_on(mine); !s) return s;
    const std::lock_guard lock(mutex);
    if (!found.is_null() && found["energy"] != (*mine)["energy"]) return failed("ranks have different energies");
    found = std::move(*mine);
    return Nothing{};
  });
  if (!status) return status.error();
  return found;
}

double energy_of(const Asked& asked) {
  const Result<json> found = solve(asked);
  EXPECT_TRUE(found) << asked.variant << ": " << found.error().sentence();
  if (!found) return NAN;
  EXPECT_EQ(found->contains("checked"), asked.checks);
  EXPECT_TRUE(!asked.checks || (*found)["checked"]["right"].get<bool>()) << asked.variant << (*found)["checked"];
  return (*found)["energy"];
}

TEST(HartreeFock, GoldenCopyHasTheEnergyOfPyscf) {
  EXPECT_NEAR(energy_of({.size = "w1", .ranks = 2, .checks = true}), -74.9629282464, 1e-9);
}

// Here there is no GPU, and tasks are of one rank.
bool is_applicable(const ScfVariant& variant, int ranks) {
  const bool needs_gpu = variant.name.starts_with("gpu") || variant.name == "hybrid";
  return !needs_gpu && (ranks == 1 || variant.name != "shells_tasks");
}

TEST(HartreeFock, EveryVariantOnAnyRanksAndThreadsHasTheEnergyOfPyscf) {
  for (const ScfVariant& variant : variants().subspan(1)) {
    const std::string name(variant.name);
    for (const auto& [ranks, threads] : {std::pair{1, 1}, {1, 3}, {2, 1}, {3, 2}}) {
      const Result<json> found = solve({.variant = name, .ranks = ranks, .threads = threads});
      ASSERT_EQ(found.ok(), is_applicable(variant, ranks)) << name << ' ' << ranks;
      if (found) {
        EXPECT_NEAR((*found)["energy"], -149.9262679110, same) << name << ' ' << ranks << ' ' << threads;
      } else {
        EXPECT_EQ(found.error().kind, Error::Kind::not_applicable) << name << found.error().sentence();
      }
    }
  }
}

TEST(HartreeFock, EveryVariantPassesTheCheckInASplitBasis) {
  for (const ScfVariant& variant : variants().subspan(1)) {
    const Asked asked{
        .size = "w1", .variant = std::string(variant.name), .options = {{"basis", "6-31g"}}, .checks = true};
    if (is_applicable(variant, 1)) {
      EXPECT_NEAR(energy_of(asked), -75.9839974763, same) << asked.variant;
    } else {
      const Result<json> found = solve(asked);
      ASSERT_FALSE(found) << asked.variant;
      EXPECT_EQ(found.error().kind, Error::Kind::not_applicable) << asked.variant;
    }
  }
}

TEST(HartreeFock, ReproducibleRunsHaveTheSameBits) {
  for (const ScfVariant& variant : variants().subspan(1)) {
    std::set<double> energies;
    std::size_t solved = 0;
    for (const auto& [ranks, threads] : {std::pair{1, 1}, {1, 3}, {3, 2}}) {
      const Result<json> found = solve({.variant = std::string(variant.name),
                                        .options = {{"reproducible", "yes"}},
                                        .ranks = ranks,
                                        .threads = threads});
      if (found) ++solved, energies.insert((*found)["energy"].get<double>());
    }
    EXPECT_EQ(solved, !is_applicable(variant, 1) ? 0U : is_applicable(variant, 3) ? 3U : 2U) << variant.name;
    EXPECT_EQ(energies.size(), is_applicable(variant, 1) ? 1U : 0U) << variant.name;
  }
}

// The largest screening that is allowed is still right, by increments too.
TEST(HartreeFock, CoarseScreeningPassesTheCheck) {
  const double exact = energy_of({.size = "w4", .variant = "shells", .options = {{"screening", "0"}}});
  EXPECT_NEAR(energy_of({.size = "w4", .variant = "shells", .options = {{"screening", "1e-10"}}, .checks = true}),
              exact, same);
}

// A rank on an older processor has fewer sets, and other units of work with the widest of its own.
TEST(HartreeFock, RanksUseInstructionsThatAllHave) {
  const std::vector<std::string_view> sets{"baseline", "avx2", "avx512"};
  for (const std::size_t fewest : {1, 2, 3}) {
    const auto [status, printed] = run_processes(3, false, 5, [&](Processes& processes) -> Status {
      std::vector<std::string_view> mine = sets;
      if (processes.rank() == 1) mine.resize(fewest);
      const std::string found = common_instructions(processes, mine);
      return found == sets[fewest - 1] ? Status(Nothing{}) : Status(failed("another set", found));
    });
    EXPECT_TRUE(status) << status.error().sentence();
  }
}

TEST(HartreeFock, TellsOfOrbitalsClassesAndEnergies) {
  const json found = *solve({.variant = "classes"});
  EXPECT_EQ(found["functions"], 14);
  EXPECT_EQ(found["electrons"], 20);
  EXPECT_EQ(found["orbital_energies"].size(), 14U);
  EXPECT_EQ(found["history"].size(), found["iterations"].get<std::size_t>());
  const json& parts = found["energies"];
  EXPECT_NEAR(parts["nuclear"].get<double>() + parts["one_electron"].get<double>() +
                  parts["two_electron"].get<double>(),
              found["energy"], 1e-11);
  ASSERT_EQ(found["tables"][0]["rows"].size(), 6U);
  EXPECT_EQ(found["tables"][0]["rows"][0][0], "(ss,ss)");
  EXPECT_EQ(found["tables"][0]["rows"][5][0], "(pp,pp)");
}

TEST(HartreeFock, ASampleMayStopAndARunMayNot) {
  const json sample = *solve({.variant = "classes", .most_iterations = 4, .may_stop_early = true});
  EXPECT_FALSE(sample["converged"].get<bool>());
  EXPECT_EQ(sample["iterations"], 4);
  const Result<json> run = solve({.variant = "classes", .ranks = 2, .most_iterations = 4});
  ASSERT_FALSE(run);
  EXPECT_TRUE(run.error().sentence().starts_with("the SCF did not converge: its commutator is "))
      << run.error().sentence();
}

json checked(const MoleculeProblem& problem, const hartree_fock::Scf& scf) {
  json found;
  const auto [status, printed] = run_processes(1, false, 1, [&](Processes& processes) -> Status {
    const std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    found = check_g_matrix(problem, scf, 0, *runtime);
    return Nothing{};
  });
  EXPECT_TRUE(status);
  return found;
}

// The check looks at few blocks of a large matrix, but at all of a small one, whatever its number of shells.
class CheckOfGOf : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(BasisSets, CheckOfGOf, testing::Values("sto-3g", "6-31g"));
TEST_P(CheckOfGOf, FindsAWrongEntry) {
  const MoleculeProblem problem = *make_problem(request_of({.size = "w1", .options = {{"basis", GetParam()}}}));
  hartree_fock::Scf scf;
  scf.density = hartree_fock::make_scf_problem(problem.molecule, problem.set, problem.basis)->density;
  scf.g = hartree_fock::g_matrix_golden(problem.basis, scf.density);
  const auto check = [&] { return checked(problem, scf)["right"].get<bool>(); };
  EXPECT_TRUE(check());
  const std::size_t entries = scf.g.values.size();
  for (const double wrong : {1e-7, -1e-8, double(NAN)})
    for (std::size_t entry = 0; entry < entries; entry += entries / 8) {
      const double right = scf.g.values[entry];
      scf.g.values[entry] += wrong;
      EXPECT_FALSE(check()) << wrong << ' ' << entry;
      scf.g.values[entry] = right;
    }
  EXPECT_TRUE(check());
}

// Of a large molecule the budget allows one block, and the entries of most are tiny: 0 must not pass for them.
TEST(CheckOfG, FindsAMatrixOfZeros) {
  for (const char* const size : {"w1", "w30"}) {
    const MoleculeProblem problem = *make_problem(request_of({.size = size}));
    hartree_fock::Scf scf;
    scf.density = hartree_fock::make_scf_problem(problem.molecule, problem.set, problem.basis)->density;
    scf.g = hartree_fock::Matrix(problem.basis.functions);
    const json found = checked(problem, scf);
    EXPECT_FALSE(found["right"].get<bool>()) << size << found;
    EXPECT_GT(found["error"].get<double>(), 0.1) << size << found;
  }
}

// Two molecules so far apart that their blocks of G are 0. One of them is wrong.
TEST(CheckOfG, FindsAWrongFarBlock) {
  const std::string folder = testing::TempDir(), molecule = folder + "/far.xyz";
  std::ofstream(molecule) << "4\n\nH 0 0 0\nH 0 0 0.74\nH 0 0 40\nH 0 0 40.74\n";
  const MoleculeProblem problem = *make_problem(request_of({.options = {{"molecule", molecule}}}));
  hartree_fock::Scf scf;
  scf.density = hartree_fock::make_scf_problem(problem.molecule, problem.set, problem.basis)->density;
  scf.g = hartree_fock::g_matrix_golden(problem.basis, scf.density);
  EXPECT_TRUE(checked(problem, scf)["right"].get<bool>());
  EXPECT_LT(std::abs(scf.g(0, 2)), 1e-12);
  scf.g(0, 2) = 1e-6;
  EXPECT_FALSE(checked(problem, scf)["right"].get<bool>());
}

// Where nothing is large the check says that it cannot tell.
TEST(CheckOfG, FailsWithoutLargeEntries) {
  const MoleculeProblem problem = *make_problem(request_of({.size = "w1"}));
  hartree_fock::Scf scf;
  scf.density = hartree_fock::Matrix(problem.basis.functions);
  scf.g = scf.density;
  const json found = checked(problem, scf);
  EXPECT_EQ(found["error"], 0);
  EXPECT_FALSE(found["right"].get<bool>());
}

TEST(HartreeFock, RefusesWhatItCannotRead) {
  const auto error = [](std::map<std::string, std::string> options) {
    const Result<MoleculeProblem> problem = make_problem(request_of({.size = "w1", .options = std::move(options)}));
    return problem ? "no error" : problem.error().sentence();
  };
  EXPECT_EQ(error({{"charge", "+2"}}), "no error");
  EXPECT_EQ(error({{"charge", "one"}}), "charge must be an integer from -1000 to 1000 (got 'one')");
  EXPECT_EQ(error({{"charge", "1"}}),
            "restricted Hartree-Fock needs closed shells, so an even number of electrons (got 9); "
            "change the charge 1 by 1");
  EXPECT_EQ(error({{"multiplicity", "3"}}), "restricted Hartree-Fock needs closed shells, so a multiplicity of 1 (got "
                                            "'3'); take a program for open shells");
  EXPECT_EQ(error({{"basis", "6-31g*"}}), "basis must be 6-31g, sto-3g or a .gbs file (got '6-31g*')");
  EXPECT_EQ(error({{"screening", "1e-9"}}), "screening must be from 0 to 1e-10 hartree (got '1e-9')");
  EXPECT_EQ(error({{"molecule", "no.xyz"}}), "the molecule cannot be read (got no file 'no.xyz'); check the path");
}

// Oxygen's ground state is a triplet; with two electrons more it is a closed shell.
TEST(HartreeFock, AnOpenShellIsFoundOrStated) {
  const std::string file = testing::TempDir() + "/o2.xyz";
  std::ofstream(file) << "2\n\nO 0 0 0\nO 0 0 1.21\n";
  for (const std::int32_t ranks : {1, 2}) {
    const Result<json> found = solve({.variant = "shells", .options = {{"molecule", file}}, .ranks = ranks});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().sentence(),
              "the molecule must have a closed shell (got a triplet 0.0810 hartree below it); "
              "add --set multiplicity=1 to keep the closed shell");
  }
  const Result<json> kept = solve({.variant = "shells", .options = {{"molecule", file}, {"multiplicity", "1"}}});
  ASSERT_TRUE(kept) << kept.error().sentence();
  EXPECT_LT((*kept)["triplet"]["energy"], -0.08);
  ASSERT_TRUE((*kept)["warnings"].is_array());
  EXPECT_EQ((*kept)["warnings"].size(), 1U);
  const Result<json> closed = solve({.variant = "shells", .options = {{"molecule", file}, {"charge", "-2"}}});
  ASSERT_TRUE(closed) << closed.error().sentence();
  EXPECT_GT((*closed)["triplet"]["energy"], 0);
  EXPECT_FALSE(closed->contains("warnings"));
}

TEST(HartreeFock, ReadsAMoleculeAndABasisSetFromFiles) {
  const std::string folder = testing::TempDir(), molecule = folder + "/he.xyz", basis = folder + "/he.gbs";
  std::ofstream(molecule) << "1\nhelium\nHe 0 0 0\n";
  std::ofstream(basis) << "He 0\nS 3 1.00\n0.3842163400D+02 0.2376600000D-01\n0.5778030000D+01 0.1546790000D+00\n"
                          "0.1241774000D+01 0.4696300000D+00\nS 1 1.00\n0.2979640000D+00 0.1000000000D+01\n****\n";
  EXPECT_NEAR(energy_of({.options = {{"molecule", molecule}, {"basis", basis}}}), -2.8551604262, 1e-7); // PySCF, 6-31G
}

} // namespace
} // namespace kumihimo::hartree_fock_app
