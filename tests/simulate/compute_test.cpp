// Compute steps: seconds, flops and bytes take the time that the machine's rates say; without a rate, no figure.
#include "support.hpp"

namespace kumihimo::simulate_test {
namespace {

class Compute : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(Compute);

Schedule of(Work work) {
  return by_hand(2, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "alone", 1);
    if (r == 0) lane.step(compute(work));
    p.add(std::move(lane));
  });
}

Machine with_rate(double flops_per_second) {
  Machine m = plain("2");
  m.node.flop_rate = Quantity<FlopsPerSecond>{{flops_per_second}, Provenance::assumed, "round"};
  return m;
}

TEST_P(Compute, FlopsTakeTheTimeOfTheMachinesRate) {
  EXPECT_NEAR(time(of({.flops = 4e9}), with_rate(2e9)), 2.0, 1e-9);
  EXPECT_NEAR(time(of({.flops = 4e9}), with_rate(8e9)), 0.5, 1e-9);
}

// Operations and memory traffic overlap: the longer of the two; seconds are added.
TEST_P(Compute, TheLongerOfFlopsAndBytesPlusSeconds) {
  const Machine m = with_rate(2e9);
  const double memory = m.node.memory_bandwidth.value.value / static_cast<double>(m.node.ranks_per_node.value);
  EXPECT_NEAR(time(of({.flops = 4e9, .bytes = memory}), m), 2.0, 1e-9);
  EXPECT_NEAR(time(of({.flops = 1e9, .bytes = memory}), m), 1.0, 1e-9);
  EXPECT_NEAR(time(of({.seconds = 0.25, .flops = 4e9, .bytes = memory}), m), 2.25, 1e-9);
}

TEST_P(Compute, LongTimesDoNotOverflow) {
  EXPECT_NEAR(time(of({.seconds = 1e6}), plain("2")), 1e6, 1e-3);
  EXPECT_NEAR(time(of({.flops = 1e18}), with_rate(1e3)), 1e15, 1e3);
}

TEST_P(Compute, FlopsWithoutARateAreRefused) {
  Machine m = plain("2");
  m.node.flop_rate.reset();
  const auto p = asked(of({.flops = 4e9}), m);
  ASSERT_FALSE(p.ok());
  EXPECT_NE(p.error().sentence().find("flop_rate"), std::string::npos) << p.error().sentence();
  EXPECT_TRUE(asked(of({.seconds = 1, .bytes = 1e6}), m).ok());
}

} // namespace
} // namespace kumihimo::simulate_test
