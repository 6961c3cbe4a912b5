// Compute steps: seconds, flops and bytes take the time that the machine's rates say; without a rate, no figure.
#include "support.hpp"

namespace kumihimo::simulate_test {
namespace {

class Compute : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(Compute);

Schedule of(Work work, std::int32_t ranks = 2) {
  return by_hand(ranks, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
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

// As many operations a second as the node has, however many ranks there are.
TEST_P(Compute, TheRanksOfANodeShareItsRate) {
  const Schedule second = of({.flops = 2e9}, 8);
  EXPECT_NEAR(time(second, *Job::with_node_sizes(with_rate(2e9), {1, 7})), 1.0, 1e-9);
  EXPECT_NEAR(time(second, *Job::with_node_sizes(with_rate(2e9), {3, 5})), 3.0, 1e-9);
}

// Operations and memory traffic overlap: the longer of the two; seconds are added.
TEST_P(Compute, TheLongerOfFlopsAndBytesPlusSeconds) {
  const Machine m = with_rate(2e9);
  const double memory = m.node.memory_bandwidth.value.value; // the rank has its node for itself
  EXPECT_NEAR(time(of({.flops = 4e9, .bytes = memory}), m), 2.0, 1e-9);
  EXPECT_NEAR(time(of({.flops = 1e9, .bytes = memory}), m), 1.0, 1e-9);
  EXPECT_NEAR(time(of({.seconds = 0.25, .flops = 4e9, .bytes = memory}), m), 2.25, 1e-9);
}

// However many ranks per node the machine file names.
TEST_P(Compute, TheRanksOfANodeShareItsMemory) {
  for (const std::int64_t named : {1, 8}) {
    Machine m = plain("2");
    m.node.default_ranks_per_node.value = named;
    const Schedule second = of({.bytes = m.node.memory_bandwidth.value.value}, 8);
    EXPECT_NEAR(time(second, *Job::with_node_sizes(m, {1, 7})), 1.0, 1e-9);
    EXPECT_NEAR(time(second, *Job::with_node_sizes(m, {3, 5})), 3.0, 1e-9);
    EXPECT_NEAR(time(second, *Job::with_ranks_per_node(m, 4)), 4.0, 1e-9);
  }
}

// Slots that the placement leaves empty take no share.
TEST_P(Compute, OnlyPlacedRanksShareTheMemory) {
  const Job job = *Job::with_ranks_per_node(plain("2"), 8);
  const Schedule second = of({.bytes = job.machine.node.memory_bandwidth.value.value});
  const auto on = [&](NodeId other) {
    const std::vector<Slot> slots = {{NodeId{0}, 3}, {other, 5}};
    return simulate(second, job, *Placement::make(job.slots, slots), without_exact_work(GetParam()))->seconds.value;
  };
  EXPECT_NEAR(on(NodeId{1}), 1.0, 1e-9);
  EXPECT_NEAR(on(NodeId{0}), 2.0, 1e-9);
}

TEST_P(Compute, LongTimesDoNotOverflow) {
  EXPECT_NEAR(time(of({.seconds = 1e6}), plain("2")), 1e6, 1e-3);
  if (GetParam() == ScheduleModel::flow) {
    EXPECT_NEAR(time(of({.flops = 1e18}), with_rate(1e3)), 1e15, 1e3);
    return;
  }
  const auto p = asked(of({.flops = 1e18}), with_rate(1e3));
  ASSERT_FALSE(p.ok());
  EXPECT_NE(p.error().sentence().find("at most 13 days"), std::string::npos) << p.error().sentence();
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
