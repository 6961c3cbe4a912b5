#include "hartree_fock/built_in.hpp"
#include "hartree_fock/golden.hpp"
#include "hartree_fock/two_electron/hybrid.hpp"
#include "two_electron/random_basis.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace kumihimo::hartree_fock::two_electron {
namespace {

// An accelerator that computes with a builder's kernels, and says that each class takes so many seconds a unit of cost.
class StandIn final : public Device {
 public:
  StandIn(const Basis& basis, std::vector<double> seconds_of_cost)
      : builder_(std::move(*Builder::make(basis, {.whole = false}))), seconds_of_cost_(std::move(seconds_of_cost)) {}

  Status start(const Matrix& density, double threshold, std::span<const std::int64_t> units) override {
    units_.assign(units.begin(), units.end());
    const Ranks mine{.deal = [this](std::span<const double>) -> Result<std::unique_ptr<Dealer>> {
                       return std::unique_ptr<Dealer>(std::make_unique<ListDealer>(units_));
                     },
                     .sum = [this](std::span<double> halves) -> Status {
                       halves_.assign(halves.begin(), halves.end());
                       return Nothing{};
                     }};
    TRY(builder_->build(density, threshold, mine));
    return Nothing{};
  }
  Status finish(std::span<double> halves, std::span<double> class_seconds) override {
    if (fails) return failed("the accelerator failed", {}, "use a variant without one");
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] += halves_[i];
    for (const std::int64_t unit : units_) {
      const Unit& computed = builder_->units()[static_cast<std::size_t>(unit)];
      class_seconds[computed.number] += seconds_of_cost_[computed.number] * computed.cost;
    }
    return Nothing{};
  }
  bool fails = false;

 private:
  std::unique_ptr<Builder> builder_;
  std::vector<double> seconds_of_cost_, halves_;
  std::vector<std::int64_t> units_;
};

std::unique_ptr<Hybrid> hybrid_of(const Basis& basis, std::vector<double> seconds_of_cost, bool alone = false) {
  return std::move(*Hybrid::make(std::move(*Builder::make(basis, {.whole = false})),
                                 std::make_unique<StandIn>(basis, std::move(seconds_of_cost)), alone));
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
  EXPECT_GT(both[5].quartets, 0); // by the processors, in all builds
  for (const ClassWork& each : device) {
    EXPECT_EQ(each.quartets, 0) << each.name;
    EXPECT_GT(each.seconds, 0) << each.name; // the device's
  }
}

TEST(Hybrid, ReproducibleSumsAndFailuresAreErrors) {
  const Basis basis = *make_basis(*built_in_molecule("w1"), *built_in_basis_set("sto-3g"));
  EXPECT_FALSE(Hybrid::make(std::move(*Builder::make(basis, {.reproducible = true})), nullptr));
  auto device = std::make_unique<StandIn>(basis, std::vector<double>(6, 1e-9));
  device->fails = true;
  const std::unique_ptr<Hybrid> hybrid =
      std::move(*Hybrid::make(std::move(*Builder::make(basis, {.whole = false})), std::move(device)));
  EXPECT_FALSE(hybrid->build(Random(2).density(basis.functions), 0));
}

// Class ratios as published for a GPU of 2009 (23.4, 18.8, 14.1, 15.9, 6.8 and 1.5 times one core).
TEST(Split, FindsTheLeastTimeOfBoth) {
  const std::vector<double> core{246, 279, 122, 67, 62, 12}, ratio{23.4, 18.8, 14.1, 15.9, 6.8, 1.5};
  Split split(6);
  EXPECT_EQ(split.shares(), std::vector<double>(6, 0.5));
  for (int i = 0; i < 3; ++i) {
    const std::vector<double> share = split.shares();
    std::vector<double> on_core, on_device;
    for (int c = 0; c < 6; ++c) {
      on_core.push_back((1 - share[c]) * core[c]);
      on_device.push_back(share[c] * core[c] / ratio[c]);
    }
    split.measured(share, on_core, on_device);
  }
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

TEST(Split, FollowsADeviceThatSlowsDown) {
  Split split(2);
  const std::vector<double> half{0.5, 0.5};
  split.measured(half, std::vector<double>{1, 1}, std::vector<double>{0.1, 0.1});
  const double before = split.shares()[0] + split.shares()[1];
  for (int i = 0; i < 6; ++i) split.measured(half, std::vector<double>{1, 1}, std::vector<double>{10, 10});
  EXPECT_LT(split.shares()[0] + split.shares()[1], before / 2);
}

} // namespace
} // namespace kumihimo::hartree_fock::two_electron
