#include "hartree_fock/built_in.hpp"
#include "hartree_fock/golden.hpp"
#include "hartree_fock/two_electron/hybrid.hpp"
#include "two_electron/random_basis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace kumihimo::hartree_fock::two_electron {
namespace {

// An accelerator that computes with a builder's kernels, and says that each class takes so many seconds a unit of cost.
class StandIn final : public Device {
 public:
  StandIn(const Basis& basis, std::vector<double> seconds_of_cost)
      : builder_(std::move(*TwoElectronBuilder::make(basis, {.whole = false}))),
        seconds_of_cost_(std::move(seconds_of_cost)) {}

  Status start(const Matrix& density, double threshold, std::span<const std::int64_t> units) override {
    units_.assign(units.begin(), units.end());
    const BuildRanks mine{.deal = [this](std::span<const double>) -> Result<std::unique_ptr<Dealer>> {
                            return std::unique_ptr<Dealer>(std::make_unique<ListDealer>(units_));
                          },
                          .sum = [this](std::span<double> halves) -> Status {
                            halves_.assign(halves.begin(), halves.end());
                            return Nothing{};
                          }};
    TRY(builder_->build(density, threshold, mine));
    return Nothing{};
  }
  Status finish(std::span<double> halves, std::span<Tally> of_class) override {
    if (fails) return failed("the accelerator failed", {}, "use a variant without one");
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] += halves_[i];
    std::vector<double> seconds(of_class.size());
    for (const std::int64_t unit : units_) {
      const QuartetUnit& computed = builder_->units()[static_cast<std::size_t>(unit)];
      seconds[computed.number] += seconds_of_cost_[computed.number] * computed.cost;
    }
    for (std::size_t i = 0; i < of_class.size(); ++i) {
      of_class[i] = builder_->tallies()[i];
      of_class[i].nanoseconds = std::llround(1e9 * seconds[i]);
    }
    return Nothing{};
  }
  bool fails = false;

 private:
  std::unique_ptr<TwoElectronBuilder> builder_;
  std::vector<double> seconds_of_cost_, halves_;
  std::vector<std::int64_t> units_;
};

std::unique_ptr<Hybrid> hybrid_of(const Basis& basis, std::vector<double> seconds_of_cost, bool alone = false,
                                  Sharing sharing = {}) {
  return std::move(*Hybrid::make(std::move(*TwoElectronBuilder::make(basis, {.whole = false})),
                                 std::make_unique<StandIn>(basis, std::move(seconds_of_cost)), alone,
                                 std::move(sharing)));
}

TEST(Hybrid, GivesTheGoldenMatrixWhileTheSplitChanges) {
  const Basis basis = *make_basis(*built_in_molecule("w1"), *built_in_basis_set("6-31g"));
  const Matrix density = Random(1).density(basis.functions), golden = g_matrix_golden(basis, density);
  const std::unique_ptr<Hybrid> hybrid = hybrid_of(basis, {1e-12, 1e-12, 1e-9, 1e-9, 1e-6, 1e-6});
  std::vector<std::vector<double>> shares;
  for (int i = 0; i < 4; ++i) {
    const Result<CoulombExchange> sums = hybrid->build(density, 0);
    ASSERT_TRUE(sums);
    EXPECT_LT(largest_difference(g_matrix(*sums), golden), 1e-12 * largest(golden));
    shares.push_back(hybrid->shares());
  }
  EXPECT_NE(shares.front(), shares.back());
  EXPECT_EQ(shares.back()[0], 1); // a device that is quick in (ss,ss) gets all of them
  EXPECT_LT(shares.back()[5], 1); // and none or few of the class that it is slow in
  EXPECT_GT(shares.back()[0], shares.back()[5]);
  const std::unique_ptr<Hybrid> alone = hybrid_of(basis, std::vector<double>(6, 1e-9), true);
  EXPECT_LT(largest_difference(g_matrix(*alone->build(density, 0)), golden), 1e-12 * largest(golden));
  EXPECT_EQ(alone->shares(), std::vector<double>(6, 1.0));
  const std::vector<ClassWork> both = hybrid->work(), device = alone->work();
  ASSERT_EQ(both.size(), 6U);
  EXPECT_EQ(both[0].name, "(ss,ss)");
  for (std::size_t i = 0; i < 6; ++i) { // in all builds, by the processors and the device
    EXPECT_GT(device[i].quartets, 0) << device[i].name;
    EXPECT_EQ(both[i].quartets, 4 * device[i].quartets) << device[i].name;
    EXPECT_GT(both[i].primitives, both[i].quartets) << device[i].name;
    EXPECT_GT(device[i].seconds, 0) << device[i].name;
  }
}

TEST(Hybrid, ReproducibleSumsAndFailuresAreErrors) {
  const Basis basis = *make_basis(*built_in_molecule("w1"), *built_in_basis_set("sto-3g"));
  EXPECT_FALSE(Hybrid::make(std::move(*TwoElectronBuilder::make(basis, {.reproducible = true})), nullptr));
  auto device = std::make_unique<StandIn>(basis, std::vector<double>(6, 1e-9));
  device->fails = true;
  const std::unique_ptr<Hybrid> hybrid =
      std::move(*Hybrid::make(std::move(*TwoElectronBuilder::make(basis, {.whole = false})), std::move(device)));
  EXPECT_FALSE(hybrid->build(Random(2).density(basis.functions), 0));
}

TEST(Hybrid, RanksDealAllUnitsOnceAndEvenly) {
  const Basis basis = *make_basis(*built_in_molecule("w2"), *built_in_basis_set("6-31g"));
  const std::unique_ptr<TwoElectronBuilder> builder = *TwoElectronBuilder::make(basis, {.whole = false});
  const std::vector<QuartetUnit>& units = builder->units();
  for (const int ranks : {1, 3, 7}) {
    std::vector<int> dealt(units.size());
    std::vector<double> cost(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      for (const std::int64_t unit : units_of_rank(units, rank, ranks)) {
        ++dealt[static_cast<std::size_t>(unit)];
        cost[static_cast<std::size_t>(rank)] += units[static_cast<std::size_t>(unit)].cost;
      }
    EXPECT_EQ(dealt, std::vector<int>(units.size(), 1)) << ranks;
    EXPECT_LE(std::ranges::max(cost) - std::ranges::min(cost), units.front().cost) << ranks;
  }
}

// The ranks one after the other: each gives its part of the sums, and what it did.
TEST(Hybrid, ThreeRanksGiveTheMatrixAndTheQuartetsOfOne) {
  const Basis basis = *make_basis(*built_in_molecule("w1"), *built_in_basis_set("6-31g"));
  const Matrix density = Random(1).density(basis.functions), golden = g_matrix_golden(basis, density);
  for (const bool alone : {false, true}) {
    const std::vector<double> seconds(6, 1e-6);
    const std::unique_ptr<Hybrid> one = hybrid_of(basis, seconds, alone);
    ASSERT_TRUE(one->build(density, 1e-6));
    Matrix sum(basis.functions);
    std::vector<ClassWork> work = one->work();
    for (int rank = 0; rank < 3; ++rank) {
      const std::unique_ptr<Hybrid> part = hybrid_of(basis, seconds, alone, {.rank = rank, .ranks = 3});
      const Matrix g = g_matrix(*part->build(density, 0));
      for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += g.values[i];
      const std::unique_ptr<Hybrid> screened = hybrid_of(basis, seconds, alone, {.rank = rank, .ranks = 3});
      ASSERT_TRUE(screened->build(density, 1e-6));
      const std::vector<ClassWork> mine = screened->work();
      for (std::size_t i = 0; i < work.size(); ++i) work[i].quartets -= mine[i].quartets;
    }
    EXPECT_LT(largest_difference(sum, golden), 1e-12 * largest(golden)) << alone;
    for (const ClassWork& each : work) EXPECT_EQ(each.quartets, 0) << each.name;
  }
}

// A rank whose accelerator fails says so to the others, which do not wait for its sums.
TEST(Hybrid, RanksAgreeOnFailures) {
  const Basis basis = *make_basis(*built_in_molecule("w1"), *built_in_basis_set("sto-3g"));
  const Matrix density = Random(2).density(basis.functions);
  int agreed = 0, summed = 0;
  const Error elsewhere = failed("another rank failed");
  for (const bool here : {true, false}) {
    auto device = std::make_unique<StandIn>(basis, std::vector<double>(6, 1e-6));
    device->fails = here;
    Sharing sharing{.rank = 0,
                    .ranks = 2,
                    .agree =
                        [&](const Status& mine) {
                          ++agreed;
                          EXPECT_EQ(mine.ok(), !here);
                          return Status(elsewhere);
                        },
                    .sum =
                        [&](std::span<double>) {
                          ++summed;
                          return Status(Nothing{});
                        }};
    const std::unique_ptr<Hybrid> hybrid = std::move(*Hybrid::make(
        std::move(*TwoElectronBuilder::make(basis, {.whole = false})), std::move(device), false, std::move(sharing)));
    EXPECT_FALSE(hybrid->build(density, 0));
  }
  EXPECT_EQ(agreed, 2);
  EXPECT_EQ(summed, 0);
}

// What both machines do of classes with these seconds for the whole, when so large a part of the quartets is computed.
void measure(WorkSplit& split, const std::vector<double>& core, const std::vector<double>& device,
             double computed = 1) {
  const std::vector<double> share = split.shares();
  std::vector<MachinePart> on_core, on_device;
  for (std::size_t c = 0; c < core.size(); ++c) {
    const auto part = [&](double seconds, double x) {
      return MachinePart{x * computed * seconds, 1e6 * x * computed, 1e6 * x * (1 - computed)};
    };
    on_core.push_back(part(core[c], 1 - share[c]));
    on_device.push_back(part(device[c], share[c]));
  }
  split.measured(share, on_core, on_device);
}

// Class ratios as published for a GPU of 2009 (23.4, 18.8, 14.1, 15.9, 6.8 and 1.5 times one core).
TEST(WorkSplit, FindsTheLeastTimeOfBoth) {
  const std::vector<double> core{246, 279, 122, 67, 62, 12}, ratio{23.4, 18.8, 14.1, 15.9, 6.8, 1.5};
  WorkSplit split(6);
  EXPECT_EQ(split.shares(), std::vector<double>(6, 0.5));
  std::vector<double> device;
  for (int c = 0; c < 6; ++c) device.push_back(core[c] / ratio[c]);
  for (int i = 0; i < 3; ++i) measure(split, core, device);
  const std::vector<double> best = split.shares();
  const double seconds = split.seconds(best);
  EXPECT_EQ(best[0], 1);
  EXPECT_EQ(best[5], 0); // the complex class stays on the processors
  EXPECT_LT(seconds, 788.0 / 15);
  // No other split at random is quicker, nor one that lacks a class or has one more.
  Random random(3);
  for (int i = 0; i < 100'000; ++i) {
    std::vector<double> other;
    for (int c = 0; c < 6; ++c) other.push_back(i % 2 == 0 ? random.uniform(0, 1) : std::round(random.uniform(0, 1)));
    EXPECT_GE(split.seconds(other), seconds * (1 - 1e-12));
  }
}

// Builds of increments of the density: each computes half the quartets of the one before.
TEST(WorkSplit, KeepsItsSharesWhileBuildsShrink) {
  const std::vector<double> core{246, 279, 122, 67, 62, 12}, device{10.5, 14.8, 8.7, 4.2, 9.1, 8};
  WorkSplit split(6);
  for (int i = 0; i < 3; ++i) measure(split, core, device);
  const std::vector<double> before = split.shares();
  const double seconds = split.seconds(before);
  double computed = 1;
  for (int i = 0; i < 8; ++i) {
    computed /= 2;
    measure(split, core, device, computed);
    const std::vector<double> now = split.shares();
    for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(now[c], before[c], 1e-9) << "build " << i << ", class " << c;
    EXPECT_NEAR(split.seconds(now), computed * seconds, 1e-9 * seconds);
  }
}

TEST(WorkSplit, FollowsADeviceThatSlowsDown) {
  WorkSplit split(2);
  const std::vector<double> half{0.5, 0.5};
  const auto both = [](double seconds) { return std::vector<MachinePart>(2, {seconds, 100, 0}); };
  split.measured(half, both(1), both(0.1));
  const double before = split.shares()[0] + split.shares()[1];
  for (int i = 0; i < 6; ++i) split.measured(half, both(1), both(10));
  EXPECT_LT(split.shares()[0] + split.shares()[1], before / 2);
}

} // namespace
} // namespace kumihimo::hartree_fock::two_electron
