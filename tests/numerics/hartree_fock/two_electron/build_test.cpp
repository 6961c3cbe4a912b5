#include "hartree_fock/built_in.hpp"
#include "hartree_fock/golden.hpp"
#include "hartree_fock/two_electron/build.hpp"
#include "threads/team.hpp"
#include "two_electron/random_basis.hpp"

#include <gtest/gtest.h>

namespace kumihimo::hartree_fock::two_electron {
namespace {

using enum ShellType;

CoulombExchange built(const Basis& basis, const Matrix& density, const BuildSettings& settings, double threshold = 0) {
  const Result<std::unique_ptr<TwoElectronBuilder>> builder = TwoElectronBuilder::make(basis, settings);
  EXPECT_TRUE(builder);
  Result<CoulombExchange> made = (*builder)->build(density, threshold);
  EXPECT_TRUE(made);
  return std::move(*made);
}

Matrix g_of(const CoulombExchange& sums) {
  Matrix g = sums.j;
  for (std::size_t i = 0; i < g.values.size(); ++i) g.values[i] -= 0.5 * sums.k.values[i];
  return g;
}

Basis water(const char* set) { return *make_basis(*built_in_molecule("w1"), *built_in_basis_set(set)); }

TEST(TwoElectronBuild, IsTheGoldenCopyInEveryVariant) {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Random random(seed);
    const Basis basis = random.basis({sp, s, sp, s, s, sp}, 4.0);
    const Matrix density = random.density(basis.functions), golden = g_matrix_golden(basis, density);
    for (const std::string_view instructions : instruction_sets())
      for (const bool whole : {true, false})
        for (const Threads mode : {Threads::private_matrices, Threads::atomics, Threads::class_tasks})
          for (const bool reproducible : {false, true}) {
            const BuildSettings settings{std::string(instructions), whole, mode, reproducible};
            EXPECT_LT(largest_difference(g_of(built(basis, density, settings)), golden), 1e-12 * largest(golden))
                << instructions << " whole " << whole << " mode " << static_cast<int>(mode) << reproducible;
          }
  }
}

TEST(TwoElectronBuild, SplitsShellsIfThereArePAlone) {
  Random random(5);
  const Basis basis = random.basis({p, sp, s, p}, 3.0);
  const Matrix density = random.density(basis.functions), golden = g_matrix_golden(basis, density);
  const Result<std::unique_ptr<TwoElectronBuilder>> builder = TwoElectronBuilder::make(basis, {});
  EXPECT_FALSE((*builder)->whole());
  EXPECT_LT(largest_difference(g_of(*(*builder)->build(density, 0)), golden), 1e-12 * largest(golden));
}

// A density that is not the one of the golden copy must show: the comparison can fail.
TEST(TwoElectronBuild, AnotherDensityIsFound) {
  const Basis basis = water("6-31g");
  Random random(6);
  Matrix density = random.density(basis.functions);
  const Matrix golden = g_matrix_golden(basis, density);
  density(12, 3) += 1e-9;
  density(3, 12) += 1e-9;
  EXPECT_GT(largest_difference(g_of(built(basis, density, {})), golden), 1e-12 * largest(golden));
}

// Equal bits for all numbers of threads, ways to add up, and orders of the units.
TEST(TwoElectronBuild, ReproducibleSumsHaveTheSameBits) {
  const Basis basis = *make_basis(*built_in_molecule("w2"), *built_in_basis_set("6-31g"));
  const Matrix density = Random(7).density(basis.functions);
  const int before = threads::count();
  std::vector<double> first;
  for (const int team : {1, 2, 3, 5})
    for (const Threads mode : {Threads::private_matrices, Threads::atomics, Threads::class_tasks}) {
      ASSERT_TRUE(threads::use(team));
      const CoulombExchange sums = built(basis, density, {.threads = mode, .reproducible = true}, 1e-11);
      std::vector<double> values = sums.j.values;
      values.insert(values.end(), sums.k.values.begin(), sums.k.values.end());
      if (first.empty()) first = values;
      EXPECT_EQ(values, first) << team << " threads, mode " << static_cast<int>(mode);
    }
  ASSERT_TRUE(threads::use(before));
}

// Units dealt in turn to so many ranks, one after the other in this process; their halves are summed as ranks do.
class TurnDealer final : public Dealer {
 public:
  TurnDealer(std::size_t units, int rank, int ranks)
      : next_(rank), units_(static_cast<std::int64_t>(units)), ranks_(ranks) {}
  std::int64_t next(int) override {
    const std::int64_t unit = next_.fetch_add(ranks_);
    return unit < units_ ? unit : -1;
  }

 private:
  std::atomic<std::int64_t> next_;
  std::int64_t units_;
  int ranks_;
};

CoulombExchange built_by_ranks(const Basis& basis, const Matrix& density, int ranks, bool reproducible) {
  std::vector<double> total;
  CoulombExchange last;
  for (int pass = 0; pass < 2; ++pass) // the first pass finds the total, the second gives it to all
    for (int rank = 0; rank < ranks; ++rank) {
      const Result<std::unique_ptr<TwoElectronBuilder>> builder =
          TwoElectronBuilder::make(basis, {.reproducible = reproducible});
      const BuildRanks joined{[&](std::span<const double> costs) -> Result<std::unique_ptr<Dealer>> {
                                return std::unique_ptr<Dealer>(new TurnDealer(costs.size(), rank, ranks));
                              },
                              [&](std::span<double> values) -> Status {
                                total.resize(values.size());
                                for (std::size_t i = 0; i < values.size(); ++i)
                                  if (pass == 0)
                                    total[i] += values[i];
                                  else
                                    values[i] = total[i];
                                return Nothing{};
                              }};
      last = std::move(*(*builder)->build(density, 1e-11, joined));
    }
  return last;
}

TEST(TwoElectronBuild, RanksGiveTheSameSums) {
  const Basis basis = *make_basis(*built_in_molecule("w2"), *built_in_basis_set("6-31g"));
  const Matrix density = Random(8).density(basis.functions);
  const CoulombExchange plain = built(basis, density, {}, 1e-11);
  const CoulombExchange fixed = built(basis, density, {.reproducible = true}, 1e-11);
  for (const int ranks : {2, 3}) {
    EXPECT_LT(largest_difference(built_by_ranks(basis, density, ranks, false).k, plain.k), 1e-12 * largest(plain.k));
    const CoulombExchange sums = built_by_ranks(basis, density, ranks, true);
    EXPECT_EQ(sums.j.values, fixed.j.values);
    EXPECT_EQ(sums.k.values, fixed.k.values);
  }
}

TEST(TwoElectronBuild, ScreeningKeepsItsBound) {
  const Basis basis = *make_basis(*built_in_molecule("w8"), *built_in_basis_set("sto-3g"));
  const Matrix density = Random(9).density(basis.functions);
  const CoulombExchange all = built(basis, density, {});
  std::int64_t screened_before = 0;
  for (const double threshold : {1e-10, 1e-7, 1e-4}) {
    const Result<std::unique_ptr<TwoElectronBuilder>> builder = TwoElectronBuilder::make(basis, {});
    const CoulombExchange some = *(*builder)->build(density, threshold);
    std::int64_t screened = 0;
    for (const Tally& tally : (*builder)->tallies()) screened += tally.screened;
    EXPECT_GT(screened, screened_before);
    screened_before = screened;
    const double error = std::max(largest_difference(some.j, all.j), largest_difference(some.k, all.k));
    EXPECT_GT(error, 0);
    EXPECT_LE(error, (*builder)->left_out() + 1e-12 * largest(all.j));
    EXPECT_LT(error, 1e3 * threshold);
  }
}

// J and K of a moved molecule with a density of s functions alone are unchanged.
TEST(TwoElectronBuild, SymmetryTranslationAndRotation) {
  Random random(10);
  const Basis basis = random.basis({s, s, s, s, s}, 3.0);
  const Matrix density = random.density(basis.functions);
  const CoulombExchange here = built(basis, density, {});
  Basis moved = basis;
  const double c = std::cos(0.7), sn = std::sin(0.7);
  for (Shell& shell : moved.shells) {
    const auto [x, y, z] = shell.center;
    shell.center = {c * x - sn * y + 5, sn * x + c * y - 3, z + 1};
  }
  const CoulombExchange there = built(moved, density, {});
  EXPECT_LT(largest_difference(here.j, there.j), 1e-12 * largest(here.j));
  EXPECT_LT(largest_difference(here.k, there.k), 1e-12 * largest(here.k));

  // With p functions: axes x, y, z become y, z, x, and so do the functions.
  const Basis with_p = random.basis({sp, s, sp, sp}, 3.0);
  const Matrix d = random.density(with_p.functions);
  Basis turned = with_p;
  std::vector<int> place(static_cast<std::size_t>(d.size)); // of each function in the turned basis
  for (Shell& shell : turned.shells) {
    shell.center = {shell.center[2], shell.center[0], shell.center[1]};
    for (int i = 0; i < shell.functions(); ++i) place[shell.first + i] = shell.first + (i == 0 ? 0 : 1 + i % 3);
  }
  Matrix turned_d(d.size);
  for (int i = 0; i < d.size; ++i)
    for (int j = 0; j < d.size; ++j) turned_d(place[i], place[j]) = d(i, j);
  const CoulombExchange before = built(with_p, d, {}), after = built(turned, turned_d, {});
  for (int i = 0; i < d.size; ++i)
    for (int j = 0; j < d.size; ++j) {
      EXPECT_NEAR(after.j(place[i], place[j]), before.j(i, j), 1e-12 * largest(before.j));
      EXPECT_NEAR(after.k(place[i], place[j]), before.k(i, j), 1e-12 * largest(before.k));
      EXPECT_DOUBLE_EQ(before.j(i, j), before.j(j, i));
    }
}

TEST(TwoElectronBuild, UnknownInstructionsAreAnError) {
  const Result<std::unique_ptr<TwoElectronBuilder>> builder =
      TwoElectronBuilder::make(water("sto-3g"), {.instructions = "mmx"});
  ASSERT_FALSE(builder);
  EXPECT_NE(builder.error().sentence().find("mmx"), std::string::npos);
}

TEST(TwoElectronBuild, TimesEachUnit) {
  const Basis basis = water("6-31g");
  const Matrix density = Random(12).density(basis.functions);
  ASSERT_TRUE(threads::use(1));
  const std::unique_ptr<TwoElectron> variant = *make_two_electron(basis, {});
  const std::unique_ptr<TwoElectronBuilder> builder = *TwoElectronBuilder::make(basis, {});
  const std::vector<QuartetUnit>& units = builder->units();
  const std::vector<UnitTime> times = *variant->time_units(density, 0, 2);
  ASSERT_EQ(times.size(), units.size());
  double all = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i].of_class, units[i].number);
    EXPECT_EQ(times[i].cost, units[i].cost);
    EXPECT_GT(times[i].seconds, 0);
    all += times[i].seconds;
  }
  ASSERT_TRUE(variant->build(density, 0));
  double built = 0;
  for (const ClassWork& each : variant->work()) built += each.seconds;
  EXPECT_LT(all, 2 * built);
  EXPECT_GT(all, built / 10);
  ASSERT_TRUE(threads::use(2));
  EXPECT_FALSE(variant->time_units(density, 0, 1));
  ASSERT_TRUE(threads::use(1));
  EXPECT_FALSE((*make_two_electron(basis, {.threads = Threads::class_tasks}))->time_units(density, 0, 1));
}

TEST(TwoElectronBuild, CountsTheWorkOfEachClass) {
  const Basis basis = water("sto-3g"); // two s shells of H, 1s and 2sp of O
  BuildSettings settings;
  settings.whole = false;
  const Result<std::unique_ptr<TwoElectron>> variant = make_two_electron(basis, settings);
  ASSERT_TRUE((*variant)->build(Random(11).density(basis.functions), 0));
  const std::vector<ClassWork> work = (*variant)->work();
  // Pairs: 10 of ss, 4 of ps, 1 of pp; quartets of one kind n (n + 1) / 2.
  const double expected[] = {55, 40, 10, 10, 4, 1};
  const char* const names[] = {"(ss,ss)", "(ps,ss)", "(ps,ps)", "(pp,ss)", "(pp,ps)", "(pp,pp)"};
  ASSERT_EQ(work.size(), 6u);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(work[i].name, names[i]);
    EXPECT_EQ(work[i].quartets, expected[i]);
    EXPECT_EQ(work[i].screened, 0);
    EXPECT_GT(work[i].seconds, 0);
  }
}

} // namespace
} // namespace kumihimo::hartree_fock::two_electron
