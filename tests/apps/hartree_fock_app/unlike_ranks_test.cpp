// WhichRanks whose processors round differently: another exp of the C library gives them other last bits of all
// integrals.
#include "hartree_fock/built_in.hpp"
#include "hartree_fock/golden.hpp"
#include "hartree_fock/scf.hpp"
#include "hartree_fock/two_electron/build.hpp"
#include "hartree_fock_app/variant.hpp"
#include "loopback/loopback_processes.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <numbers>
#include <random>

namespace kumihimo::hartree_fock_app {
namespace {

using namespace hartree_fock;
using application::Processes, application::run_processes, application::Runtime;

// Up or down to the next number, or as it is.
void nudge(double& value, std::mt19937& random) {
  const double to = random() % 3 == 0 ? value : random() % 2 == 0 ? INFINITY : -INFINITY;
  value = std::nextafter(value, to);
}

// A ring of nitrogen atoms: most bounds of pairs are equal but for rounding. Rank 0 has it as it is, others nudged.
Basis ring(std::int32_t rank) {
  constexpr int atoms = 6;
  Molecule molecule;
  for (int i = 0; i < atoms; ++i) {
    const double angle = 2 * std::numbers::pi * i / atoms;
    molecule.atoms.push_back({7, {2.6 * std::cos(angle), 2.6 * std::sin(angle), 0}});
  }
  Basis basis = *make_basis(molecule, *built_in_basis_set("6-31g"));
  if (rank == 0) return basis;
  std::mt19937 random(static_cast<unsigned>(rank));
  for (Shell& shell : basis.shells) {
    for (double& coordinate : shell.center) nudge(coordinate, random);
    for (std::vector<double>* const of : {&shell.s, &shell.p})
      for (double& coefficient : *of) nudge(coefficient, random);
  }
  return basis;
}

Matrix density_of(int functions) {
  std::mt19937 random(1);
  Matrix density(functions);
  for (int i = 0; i < functions; ++i)
    for (int j = 0; j <= i; ++j) density(i, j) = density(j, i) = std::uniform_real_distribution<>(-1, 1)(random);
  return density;
}

const ScfVariant& variant_of(std::string_view name) {
  for (const ScfVariant& each : variants())
    if (each.name == name) return each;
  return variants().front();
}

CoulombExchange built(std::string_view variant, bool reproducible, std::int32_t ranks) {
  CoulombExchange found;
  std::mutex mutex;
  const auto [status, printed] = run_processes(ranks, true, 3, [&](Processes& processes) -> Status {
    if (Status s = threads::use(1); !s) return s;
    const std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const Basis basis = ring(processes.rank());
    const std::unique_ptr<TwoElectron> two_electron =
        TRY(variant_of(variant).make({basis, reproducible}, with_defaults(variant_of(variant).parameters), *runtime));
    CoulombExchange mine = TRY(two_electron->build(density_of(basis.functions), 1e-12));
    const std::lock_guard lock(mutex);
    found = std::move(mine);
    return Nothing{};
  });
  EXPECT_TRUE(status) << status.error().sentence();
  return found;
}

double largest_difference(const Matrix& x, const Matrix& y) {
  double largest = 0;
  for (std::size_t i = 0; i < x.values.size(); ++i) largest = std::max(largest, std::abs(x.values[i] - y.values[i]));
  return largest;
}

TEST(UnlikeRanks, ComputeEachQuartetOnce) {
  for (const std::string_view variant : {"classes", "shells"}) {
    const CoulombExchange alone = built(variant, false, 1);
    for (const bool reproducible : {false, true}) {
      const CoulombExchange together = built(variant, reproducible, 3);
      EXPECT_LT(largest_difference(together.j, alone.j), 1e-10) << variant << reproducible;
      EXPECT_LT(largest_difference(together.k, alone.k), 1e-10) << variant << reproducible;
    }
  }
}

// G with errors above the tolerance, other ones on each rank but the first: alone, these would go on for ever.
class Noisy final : public TwoElectron {
 public:
  Noisy(const Basis& basis, std::int32_t rank) : basis_(basis), rank_(rank), random_(static_cast<unsigned>(rank)) {}
  Result<CoulombExchange> build(const Matrix& density, double) override {
    CoulombExchange sums = coulomb_exchange_golden(basis_, density);
    if (rank_ > 0)
      for (int i = 0; i < density.size; ++i)
        for (int j = 0; j <= i; ++j) {
          sums.j(i, j) += 1e-6 * std::uniform_real_distribution<>(-1, 1)(random_);
          sums.j(j, i) = sums.j(i, j);
        }
    return sums;
  }

 private:
  const Basis& basis_;
  std::int32_t rank_;
  std::mt19937 random_;
};

TEST(UnlikeRanks, EndAnScfTogether) {
  const Molecule molecule = *built_in_molecule("w1");
  const BasisSet& set = *built_in_basis_set("sto-3g");
  const Basis basis = *make_basis(molecule, set);
  std::vector<Scf> found(3);
  const auto [status, printed] = run_processes(3, true, 9, [&](Processes& processes) -> Status {
    const std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    Noisy noisy(basis, processes.rank());
    ScfOptions options{.most_iterations = 40};
    options.broadcast = [&](std::span<double> values) { return runtime->broadcast(values); };
    found[processes.rank()] = TRY(restricted_scf(*make_scf_problem(molecule, set, basis), noisy, options));
    return Nothing{};
  });
  ASSERT_TRUE(status) << status.error().sentence();
  EXPECT_NEAR(found[0].energy, -74.9629282464, 1e-9);
  EXPECT_GT(found[1].history.back().commutator, 1e-8); // it would not have ended
  for (const Scf& each : found) {
    EXPECT_TRUE(each.converged);
    EXPECT_EQ(each.history.size(), found[0].history.size());
    EXPECT_EQ(each.density.values, found[0].density.values);
    EXPECT_EQ(each.orbitals.values, found[0].orbitals.values);
    EXPECT_EQ(each.orbital_energies, found[0].orbital_energies);
  }
}

std::string error_of(const std::function<Status(Runtime&)>& work) {
  const auto [status, printed] = run_processes(2, true, 5, [&](Processes& processes) -> Status {
    const std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const Status mine = work(*runtime);
    return mine ? failed("this rank found nothing wrong") : mine;
  });
  return status ? "no error" : status.error().sentence();
}

two_electron::BuildRanks joined(Runtime& runtime) {
  return {.sum = [&](std::span<double> values) { return runtime.sums().sum(values); },
          .broadcast = [&](std::span<double> values) { return runtime.broadcast(values); }};
}

TEST(UnlikeRanks, WithOtherUnitsOrMoleculesAreFound) {
  EXPECT_EQ(error_of([](Runtime& runtime) -> Status {
              two_electron::BuildRanks ranks = joined(runtime);
              ranks.broadcast = [&](std::span<double> values) -> Status {
                TRY(runtime.broadcast(values));
                if (runtime.rank() == 1 && values.size() > 1)
                  for (double& value : values) value = std::nextafter(value, INFINITY);
                return Nothing{};
              };
              TRY(two_electron::TwoElectronBuilder::make(ring(0), {}, ranks));
              return Nothing{};
            }),
            "the ranks divide the integrals differently; run the same program on all nodes");
  EXPECT_EQ(error_of([](Runtime& runtime) -> Status {
              Basis basis = ring(0);
              if (runtime.rank() == 1) basis.shells.pop_back();
              TRY(two_electron::TwoElectronBuilder::make(basis, {}, joined(runtime)));
              return Nothing{};
            }),
            "the ranks have different molecules or basis sets; give all nodes the same files");
  EXPECT_EQ(error_of([](Runtime& runtime) -> Status {
              Basis basis = ring(0);
              if (runtime.rank() == 1) basis.shells.front().center[2] += 1e-6;
              TRY(two_electron::TwoElectronBuilder::make(basis, {}, joined(runtime)));
              return Nothing{};
            }),
            "the ranks have different molecules or basis sets; give all nodes the same files");
}

} // namespace
} // namespace kumihimo::hartree_fock_app
