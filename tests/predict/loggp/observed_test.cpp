#include "goal/text.hpp"
#include "loggp/observed.hpp"
#include "loggp/of_machine.hpp"
#include "machine/load.hpp"

#include <gtest/gtest.h>

namespace kumihimo::loggp {
namespace {

ObservedRun observed(std::string_view text, std::string_view p, const std::optional<NoiseModel>& noise = {},
                     bool with_timeline = false) {
  const auto graphs = goal::parse_text(text, "a.goal");
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  EngineOptions options;
  options.noise = noise;
  auto ran = run_observed(*graphs, *parse_parameters(p, {}), options, with_timeline);
  EXPECT_TRUE(ran) << ran.error().sentence();
  return *std::move(ran);
}

constexpr std::string_view eager = "L=2500,o=1500,g=1000,G=6,S=65535";
constexpr std::string_view one_message = "num_ranks 2\nrank 0 {\nl1: calc 1000\nl2: send 101b to 1\nl2 requires l1\n}\n"
                                         "rank 1 {\nrecv 101b from 0\n}\n";

// Rank 0 computes 1 us and sends for 1.5; the message arrives at 5 and takes 1.5 + 0.6.
TEST(Observed, WhereTheTimeOfARankGoes) {
  const ObservedRun ran = observed(one_message, eager);
  const RankSeconds first = ran.of_rank(0), second = ran.of_rank(1);
  EXPECT_DOUBLE_EQ(first.end, 2.5e-6);
  EXPECT_DOUBLE_EQ(first.computing, 1e-6);
  EXPECT_DOUBLE_EQ(first.overhead, 1.5e-6);
  EXPECT_DOUBLE_EQ(first.waiting, 0);
  EXPECT_EQ(first.operations, 2U);
  EXPECT_DOUBLE_EQ(second.end, 7.1e-6);
  EXPECT_DOUBLE_EQ(second.overhead, 2.1e-6);
  EXPECT_DOUBLE_EQ(second.waiting, 5e-6);
  EXPECT_DOUBLE_EQ(ran.mean().waiting, 2.5e-6);
  EXPECT_EQ(ran.mean().operations, 3U);
}

// Rank 1 receives three messages and sends one, rank 2 receives one.
TEST(Observed, TheBusiestReceiverReceivesMostMoreThanItSends) {
  const ObservedRun ran = observed("num_ranks 4\nrank 0 {\nsend 8b to 1\nsend 8b to 1\n}\n"
                                   "rank 1 {\nrecv 8b from 0\nrecv 8b from 0\nrecv 8b from 3\nsend 8b to 2\n}\n"
                                   "rank 2 {\nrecv 8b from 1\n}\nrank 3 {\nsend 8b to 1\n}\n",
                                   eager);
  EXPECT_EQ(ran.busiest_receiver(), (std::pair<std::int32_t, std::int32_t>(1, 2)));
  EXPECT_EQ(ran.of_rank(1).operations, 4U);
}

// Two processors: 100 and 30 ns at once, then 50 ns of the first; the rank waits for nothing.
TEST(Observed, ARankWaitsWhileNoProcessorWorks) {
  const ObservedRun ran =
      observed("num_ranks 1\nrank 0 {\na: calc 100\nb: calc 30 cpu 1\nc: calc 50\nc requires a\n}\n", eager);
  EXPECT_DOUBLE_EQ(ran.of_rank(0).end, 150e-9);
  EXPECT_DOUBLE_EQ(ran.of_rank(0).computing, 180e-9);
  EXPECT_DOUBLE_EQ(ran.of_rank(0).waiting, 0);
}

TEST(Observed, NoiseIsNoWork) {
  NoiseModel noise;
  noise.interval = 1000, noise.length = 500;
  const ObservedRun ran = observed("num_ranks 1\nrank 0 {\ncalc 1000\n}\n", eager, noise);
  EXPECT_DOUBLE_EQ(ran.of_rank(0).computing, 1e-6);
  EXPECT_NEAR(ran.of_rank(0).noise, 1e-6, 1e-9); // half of the time
  EXPECT_DOUBLE_EQ(ran.of_rank(0).waiting, 0);
}

std::size_t occurrences(std::string_view text, std::string_view of) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(of, at)) != std::string_view::npos; ++at) ++count;
  return count;
}

TEST(Timeline, HasASliceForEachPieceOfWorkAndAnArrowForEachMessage) {
  const std::string text = observed(one_message, eager, {}, true).timeline;
  EXPECT_EQ(occurrences(text, R"("ph":"X")"), 3U);
  EXPECT_EQ(occurrences(text, R"("ph":"s")"), 1U);
  EXPECT_EQ(occurrences(text, R"("ph":"f")"), 1U);
  EXPECT_NE(text.find(R"("name":"receive from 0","pid":1,"tid":0,"ts":5.000000,"dur":2.100000)"), std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("label":"l1")"), std::string::npos);
  EXPECT_EQ(observed(one_message, eager).timeline, "");
}

Machine shipped(std::string_view name) {
  const std::filesystem::path folder = KUMIHIMO_MACHINES;
  return *load_machine(std::string(name), std::span(&folder, 1));
}

TEST(OfMachine, AMessageTakesWhatFlowSaysOfIt) {
  const Job job = *Job::with_ranks_per_node(shipped("k-computer").as_torus(*Shape::parse("2")), 1);
  const Machine& machine = job.machine;
  const MachineParameters made = parameters_of(job);
  EXPECT_DOUBLE_EQ(made.hops, 1);
  const double software = machine.software.message_cost.value.value + machine.software.relay_latency.value.value;
  EXPECT_NEAR(static_cast<double>(2 * made.parameters.o + made.parameters.L) * 1e-12,
              software + machine.network.hop_latency.value.value, 2e-12);
  EXPECT_NEAR(static_cast<double>(made.parameters.G) * 1e-15, 1 / machine.network.link_bandwidth.value.value, 1e-15);
  EXPECT_EQ(made.rates.nics, machine.network.engines.value);
  EXPECT_EQ(made.rates.cpus, made.rates.nics + 1);
  EXPECT_EQ(made.rates.reduced, machine.node.reduction_rate.value.value);
  EXPECT_EQ(parameters_of(job, true).rates.reduced, machine.node.reduction_rate_scalar.value.value);
}

TEST(OfMachine, MeasuredParametersReplaceTheDerivedOnes) {
  Machine machine = shipped("fugaku");
  const LogGopsParameters derived = parameters_of(Job(machine)).parameters;
  const auto measured = [](auto value) { return Quantity{value, Provenance::measured, "a run"}; };
  machine.loggops = {.L = {},
                     .o = measured(Seconds{150e-9}),
                     .g = {},
                     .G = measured(Seconds{0.25e-9}),
                     .O = {},
                     .S = measured(Bytes{4096})};
  LogGopsParameters expected = derived;
  expected.o = 150'000, expected.G = 250'000, expected.S = 4096;
  EXPECT_EQ(parameters_of(Job(machine)).parameters, expected);
  machine.loggops->O = measured(Seconds{0.1e-9});
  expected.O = 100'000;
  EXPECT_EQ(parameters_of(Job(machine)).parameters, expected);
}

// Of a dragonfly whose nodes have slower links than routers: G is that of the former, L the sum of each link's latency.
TEST(OfMachine, LinksOfANodeAndLatenciesOfTheirClassesCount) {
  Machine machine = shipped("leonardo");
  const NetworkNumbers& net = machine.network;
  const double node = machine.link_bandwidth(0).value;
  ASSERT_LT(node, net.link_bandwidth.value.value);
  const LogGopsParameters derived = parameters_of(Job(machine)).parameters;
  EXPECT_NEAR(static_cast<double>(derived.G), 1e15 / node, 1);
  for (LinkClass& each : machine.network.classes) each.latency = Quantity<Seconds>{{0}};
  machine.network.classes.front().latency = Quantity<Seconds>{{5e-6}};
  EXPECT_EQ(parameters_of(Job(machine)).parameters.L, 10'000'000U) << "a route leaves one node and enters another";
}

// Of 56 pairs of the 8 nodes of 4 routers 48 cross links along y, which are half as fast as those of nodes.
TEST(OfMachine, BytesTakeTheMeanTimeOfTheSlowestLinksOfRoutes) {
  const Job job = *Job::with_ranks_per_node(*shipped("blue-waters").with_shape(*Shape::parse("1x4x1x2")), 1);
  const double y = 3.05e9, node = 6.911e9;
  EXPECT_NEAR(static_cast<double>(parameters_of(job).parameters.G), 1e15 * (48 / y + 8 / node) / 56, 1);
}

TEST(OfMachine, ARendezvousTakesWhatTheMachineSays) {
  Machine machine = shipped("fugaku");
  EXPECT_EQ(parameters_of(Job(machine)).parameters.R, 7'049'900U);
  machine.loggops.emplace();
  EXPECT_EQ(parameters_of(Job(machine)).parameters.R, 7'049'900U);
  machine.loggops->R = Quantity{Seconds{2e-6}, Provenance::measured, "a run"};
  EXPECT_EQ(parameters_of(Job(machine)).parameters.R, 2'000'000U);
  EXPECT_EQ(parameters_of(Job(shipped("k-computer"))).parameters.R, 0U);
}

TEST(OfMachine, MessagesThatAreNotEagerWaitForTheirReceiver) {
  Machine machine = shipped("fugaku");
  machine.software.eager_bytes.reset();
  EXPECT_EQ(parameters_of(Job(machine)).parameters.S, goal::most_message_bytes);
  machine.software.eager_bytes = Quantity{Bytes{32768}, Provenance::assumed, "a test"};
  EXPECT_EQ(parameters_of(Job(machine)).parameters.S, 32768U);
}

// In a ring of 8 the distances from a node are 1, 2, 3, 4, 3, 2, 1.
TEST(OfMachine, LatencyIsThatOfTheMeanDistance) {
  const Job job = *Job::with_ranks_per_node(shipped("k-computer").as_torus(*Shape::parse("8")), 1);
  EXPECT_DOUBLE_EQ(parameters_of(job).hops, 16.0 / 7);
}

TEST(OfMachine, RanksOfANodeShareItsEnginesAndRates) {
  const Machine machine = shipped("k-computer").as_torus(*Shape::parse("4"));
  const auto engines = machine.network.engines.value;
  EXPECT_EQ(parameters_of(*Job::with_ranks_per_node(machine, 2 * engines)).rates.nics, 1);
  const MachineParameters many = parameters_of(*Job::with_ranks_per_node(machine, 100));
  EXPECT_NEAR(static_cast<double>(many.parameters.G) * 1e-15, 100 / machine.network.injection_bandwidth.value.value,
              1e-14);
  EXPECT_DOUBLE_EQ(many.rates.compute.bytes, machine.node.memory_bandwidth.value.value / 100);
}

} // namespace
} // namespace kumihimo::loggp
