// Graphs of operations whose messages are fluids (fluid/graphs.hpp): by hand, and those of programs in whole against
// the model exact, which makes their operations as it comes to them.
#include "fluid/graphs.hpp"
#include "goal/programs.hpp"
#include "goal/text.hpp"
#include "hosts/software.hpp"
#include "random_answers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::simulate_test {
namespace {

fluid::FluidOutcome ran(const Job& job, const std::string& goal, const fluid::FluidOptions& options = {}) {
  const auto graphs = goal::parse_text(goal, "test.goal");
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  auto outcome = fluid::run(job, *graphs, {}, options);
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  return *std::move(outcome);
}
double end_of(const fluid::FluidOutcome& outcome, std::size_t rank) {
  return static_cast<double>(outcome.end[rank]) * 1e-12;
}

// All operations of a program set, with what a rank does itself on one processor.
fluid::FluidOutcome ran_in_whole(const Job& job, const ProgramSet& set,
                                 const std::optional<Placement>& placement = {}) {
  const auto graphs = goal::graphs_of(set, hosts::rates_of(job));
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  fluid::FluidOptions options;
  options.waits_for_receive = true, options.unexpected = hosts::unexpected_bytes_of(job.machine);
  auto outcome = fluid::run(job, *graphs, placement, options);
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  return *std::move(outcome);
}

constexpr double ms = 1e-3; // a megabyte on a link of the plain machine

TEST(FluidGraphs, AMessageTakesItsCostItsBytesItsHopsAndTheRelay) {
  const auto outcome =
      ran(plain("3m"), "num_ranks 3\nrank 0 {\nsend 1000000b to 2\n}\nrank 2 {\nrecv 1000000b from 0\n}\n");
  EXPECT_NEAR(end_of(outcome, 0), cost + ms, 1e-12);
  EXPECT_NEAR(end_of(outcome, 2), cost + ms + 2 * hop + relay, 1e-12);
  ASSERT_EQ(outcome.classes.size(), 1U);
  EXPECT_NEAR(outcome.classes[0].most, ms / end_of(outcome, 2), 1e-9);
}

// Of a Tofu job all links are alike.
TEST(FluidGraphs, NetworksWithoutClassesOfLinksAreOneClass) {
  const auto outcome =
      ran(job_on("fugaku", "4x2x2"), "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n");
  ASSERT_EQ(outcome.classes.size(), 1U);
  EXPECT_GT(outcome.classes[0].links, 0);
}

// The second one starts when half of the first one is through, and both cross the link from node 1 to node 2.
TEST(FluidGraphs, MessagesShareALinkWhileBothAreUnderWay) {
  const auto outcome = ran(plain("3m"), "num_ranks 3\nrank 0 {\nsend 1000000b to 2\n}\n"
                                        "rank 1 {\nl0: calc 500000\nl1: send 1000000b to 2\nl1 requires l0\n}\n"
                                        "rank 2 {\nrecv 1000000b from 0\nrecv 1000000b from 1\n}\n");
  EXPECT_NEAR(end_of(outcome, 0), cost + 1.5 * ms, 1e-11);
  EXPECT_NEAR(end_of(outcome, 1), cost + 2 * ms, 1e-11);
}

TEST(FluidGraphs, RanksOfANodeShareItsMemory) {
  const Job job = *Job::with_ranks_per_node(plain("2"), 4);
  const std::string one = "rank 0 {\nsend 1000000b to 1\n}\nrank 1 {\nrecv 1000000b from 0\n}\n";
  const std::string two = one + "rank 2 {\nsend 1000000b to 3\n}\nrank 3 {\nrecv 1000000b from 2\n}\n";
  const double memory = job.machine.node.memory_bandwidth.value.value, rate = std::min(8e9, memory / 2);
  EXPECT_NEAR(end_of(ran(job, "num_ranks 8\n" + one), 0), 1e6 / rate, 1e-11);
  EXPECT_NEAR(end_of(ran(job, "num_ranks 8\n" + two), 0), 1e6 / std::min(8e9, memory / 4), 1e-11);
}

TEST(FluidGraphs, ADeadNodeLosesWhatHasNotLeftIt) {
  const std::string text = "num_ranks 3\nrank 0 {\nsend 1000000b to 2\n}\nrank 2 {\nrecv 1000000b from 0\n}\n";
  const auto at = [&](double seconds) {
    fluid::FluidOptions options;
    options.deaths = {{0, static_cast<goal::Time>(seconds * 1e12)}};
    return ran(plain("3m"), text, options).aftermath->complete;
  };
  EXPECT_EQ(at(cost + 0.5 * ms), 1) << "only rank 1, which does nothing";
  EXPECT_EQ(at(cost + 1.1 * ms), 3) << "all had done what they had to, and the message had left";
}

TEST(FluidGraphs, WhatNeverMatchesIsNamed) {
  const auto graphs = goal::parse_text("num_ranks 2\nrank 0 {\nl5: send 8b to 1 tag 3\n}\nrank 1 {\n}\n", "test.goal");
  const auto outcome = fluid::run(plain("2"), *graphs, {});
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().sentence().find("l5"), std::string::npos) << outcome.error().sentence();
}

// One after the other, at the root's receiving lane.
TEST(FluidGraphs, AReceiverTakesOneMessageAfterTheOther) {
  const Job job(job_on("fugaku", "4x4x4"));
  const Schedule gather = built(algorithm("linear", CollectiveKind::gather), job, 8);
  const double exact = predicted(gather, job, ScheduleModel::exact).seconds.value;
  EXPECT_NEAR(static_cast<double>(ran_in_whole(job, gather).last) * 1e-12, exact, 0.05 * exact);
  EXPECT_GT(exact, 63 * job.machine.software.receive_cost->value.value);
}

// That of rank 0 leaves first, and comes after 8 hops, 5 us behind that of rank 7.
TEST(FluidGraphs, AMessageFromAfarKeepsNoNearerOneWaiting) {
  Machine machine = plain("9m");
  machine.software.receive_cost = Quantity<Seconds>{{5e-6}};
  const auto outcome = ran(machine, "num_ranks 9\nrank 0 {\nsend 1000b to 8\n}\n"
                                    "rank 7 {\nl0: calc 2000\nl1: send 1000b to 8\nl1 requires l0\n}\n"
                                    "rank 8 {\nrecv 1000b from 0\nrecv 1000b from 7\n}\n");
  EXPECT_NEAR(end_of(outcome, 8), cost + 1e-6 + 8 * hop + relay + 5e-6, 1e-12);
}

// A lane for each of three trees: they put, and no engine limits what a rank receives.
TEST(FluidGraphs, ProgramsWithConcurrentLanesPut) {
  const Job job(job_on("fugaku", "4x4x4"));
  const Schedule trees = built(algorithm("trinaryx3"), job, 4 << 20);
  const double exact = predicted(trees, job, ScheduleModel::exact).seconds.value;
  EXPECT_NEAR(static_cast<double>(ran_in_whole(job, trees).last) * 1e-12, exact, 0.2 * exact);
}

// All 64 ranks send to all others at once.
double all_to_all(const fluid::Tolerance& tolerance) {
  std::string text = "num_ranks 64\n";
  for (int rank = 0; rank < 64; ++rank) {
    text += fmt::format("rank {} {{\n", rank);
    for (int d = 1; d < 64; ++d)
      text += fmt::format("send 100000b to {}\nrecv 100000b from {}\n", (rank + d) % 64, (rank + 64 - d) % 64);
    text += "}\n";
  }
  fluid::FluidOptions options;
  options.tolerance = tolerance;
  return static_cast<double>(ran(described("fugaku", "4x4x4"), text, options).last);
}

TEST(FluidGraphs, CrowdsOfMessagesAreSolvedTogetherWithinTheirTolerance) {
  const double exact = all_to_all({1 << 20, 0});
  EXPECT_NEAR(all_to_all({100, 0.01}) / exact, 1, 0.02);
  EXPECT_GT(std::abs(all_to_all({100, 1.5}) / exact - 1), 0.02) << "what is tolerated has no effect";
}

// Differences are of ranks: in whole graphs one processor sums, an interface is busy with a message before those to the
// same rank have left, and a copy within a node keeps no sender busy.
struct Agreement {
  double within_a_thousandth = 0, within_a_twentieth = 0;
};
Agreement agreement(std::int64_t cases, double slowness) { // of the machine of the graphs
  std::vector<double> all;
  for_each_case(cases, [&](RandomCase c, const Schedule& s) {
    SoftwareNumbers& software = c.job.machine.software; // without what graphs leave out
    software.eager_peers.reset(), software.eager_bytes_beyond.reset();
    software.put_setup.reset(), software.short_put_bytes.reset(), software.short_put_latency.reset();
    software.input_copy_rate.reset();
    NodeNumbers& node = c.job.machine.node;
    node.reduction_cost.reset(), node.cached_bytes.reset(), node.reduction_rate_uncached.reset();
    node.scratch_kept.reset(), node.scratch_rate.reset();
    const double exact = answer(c, s, {ScheduleModel::exact}).seconds.value;
    Job job = c.job;
    job.machine.network.link_bandwidth.value.value /= slowness;
    job.machine.network.engine_bandwidth.value.value /= slowness;
    const double last = static_cast<double>(ran_in_whole(job, s, c.placement).last) * 1e-12;
    if (exact > 0) all.push_back(std::abs(last / exact - 1));
  });
  const auto share = [&](double most) {
    return static_cast<double>(std::count_if(all.begin(), all.end(), [&](double e) { return e <= most; })) /
           static_cast<double>(all.size());
  };
  fmt::print("{} cases: {:.1f} % within 0.1 %, {:.1f} % within 5 %\n", all.size(), 100 * share(0.001),
             100 * share(0.05));
  return {share(0.001), share(0.05)};
}

TEST(FluidGraphs, AgreeWithTheExactModel) {
  const Agreement found = agreement(100, 1);
  EXPECT_GE(found.within_a_thousandth, 0.68);
  EXPECT_GE(found.within_a_twentieth, 0.88);
}

TEST(FluidGraphs, ANetworkThatIsATenthSlowerIsSeen) { EXPECT_LT(agreement(60, 1.1).within_a_thousandth, 0.5); }

} // namespace
} // namespace kumihimo::simulate_test
