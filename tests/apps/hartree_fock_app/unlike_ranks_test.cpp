// Ranks whose processors round differently: another exp of the C library gives them other last bits of all integrals.
#include "hartree_fock/built_in.hpp"
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

const Variant& variant_of(std::string_view name) {
  for (const Variant& each : variants())
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

std::string error_of(const std::function<Status(Runtime&)>& work) {
  const auto [status, printed] = run_processes(2, true, 5, [&](Processes& processes) -> Status {
    const std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    const Status mine = work(*runtime);
    return mine ? failed("this rank found nothing wrong") : mine;
  });
  return status ? "no error" : status.error().sentence();
}

two_electron::Ranks joined(Runtime& runtime) {
  return {.sum = [&](std::span<double> values) { return runtime.sums().sum(values); },
          .broadcast = [&](std::span<double> values) { return runtime.broadcast(values); }};
}

TEST(UnlikeRanks, WithOtherUnitsOrMoleculesAreFound) {
  EXPECT_EQ(error_of([](Runtime& runtime) -> Status {
              two_electron::Ranks ranks = joined(runtime);
              ranks.broadcast = [&](std::span<double> values) -> Status {
                TRY(runtime.broadcast(values));
                if (runtime.rank() == 1 && values.size() > 1)
                  for (double& value : values) value = std::nextafter(value, INFINITY);
                return Nothing{};
              };
              TRY(two_electron::Builder::make(ring(0), {}, ranks));
              return Nothing{};
            }),
            "the ranks divide the integrals differently; run the same program on all nodes");
  EXPECT_EQ(error_of([](Runtime& runtime) -> Status {
              Basis basis = ring(0);
              if (runtime.rank() == 1) basis.shells.pop_back();
              TRY(two_electron::Builder::make(basis, {}, joined(runtime)));
              return Nothing{};
            }),
            "the ranks have different molecules or basis sets; give all nodes the same files");
}

} // namespace
} // namespace kumihimo::hartree_fock_app
