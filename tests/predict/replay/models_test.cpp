// Programs in both models, and the graphs of GOAL files.
#include "../packet/small_machine.hpp"
#include "goal/text.hpp"
#include "recorded.hpp"
#include "replay/graphs.hpp"
#include "replay/times.hpp"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

namespace kumihimo::replay {
namespace {

// 1 byte a ns and 100 ns a hop; 2 us for a send, 3 us after an arrival.
PacketNetwork network(const std::string& shape) { return {Job(packet::torus(shape)), std::nullopt, {}}; }

ReplayProgram program_with(const std::vector<Events>& ranks, std::string_view algorithm = "",
                           const ReplayOptions& options = {}) {
  Recording recording = recording_of(ranks);
  const Status complete = recording.complete();
  EXPECT_TRUE(complete) << complete.error().problem;
  std::vector<Choice> choices;
  for (const RecordedCollective& call : recording.calls())
    choices.push_back({*Registry::standard().find(all_collectives[call.collective], algorithm), {}});
  auto program = program_of(recording, choices, options);
  EXPECT_TRUE(program) << program.error().sentence();
  return *std::move(program);
}

ReplayProgram program_of_text(const std::string& text, const ReplayOptions& options = {}) {
  const auto graphs = goal::parse_text(text, "a.goal");
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  auto program = program_of(*graphs, options);
  EXPECT_TRUE(program) << program.error().sentence();
  return *std::move(program);
}

Times in_packets(const ReplayProgram& program, const std::string& shape, const TimesOptions& options = {}) {
  auto times = times_of(program, network(shape), options);
  EXPECT_TRUE(times) << times.error().sentence();
  return *std::move(times);
}

const std::vector<Events> one_message{
    {compute(1000, 1), enter(0), event(EventKind::send, 1, 1000, 7), leave(), compute(50)},
    {compute(200), enter(1), event(EventKind::receive, 0, 1000, 7), leave(), compute(20)}};

TEST(ReplayPackets, AMessageTakesWhatThePacketModelSays) {
  const ReplayProgram program = program_with(one_message);
  TimesOptions options;
  options.most_intervals = 10;
  const Times times = in_packets(program, "4", options);
  // The send occupies its interface for 2 us and the link for 1 us; the receive ends a hop and 3 us after.
  const Time received = (1000 + 2000 + 100 + 1000 + 3000) * Time{1000};
  EXPECT_EQ(times.total, received + 20000);
  EXPECT_EQ(times.end, (std::vector<Time>{(1000 + 3000 + 50) * Time{1000}, received + 20000}));
  EXPECT_EQ(times.computing, (std::vector<Time>{1050000, 220000}));
  ASSERT_EQ(times.sites.size(), 2u);
  EXPECT_EQ(times.sites[0].time, 3000000u);
  EXPECT_EQ(times.sites[1].time, received - 200000);
  EXPECT_EQ(times.regions[1].time, 1000000u);
  EXPECT_EQ(std::tuple(times.messages, times.bytes, times.intervals.size()), std::tuple(1u, 1000u, 6u));
  ASSERT_TRUE(times.packets);
  EXPECT_EQ(times.packets->traffic.packets, 1u);
  // And the same as the model without any observer.
  const auto outcome = packet::run(network("4").job, program.graphs, std::nullopt);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->end, times.end);
}

FluidNetwork quiet() { return {Job(packet::torus("6")), std::nullopt, {}}; }

TEST(ReplayPackets, AnIdealNetworkLeavesTheWaiting) {
  const auto times = ideal_network_times(program_with(one_message), quiet());
  ASSERT_TRUE(times);
  EXPECT_EQ(times->total, 1050000u);
  EXPECT_EQ(times->sites[1].time, 800000u); // until rank 0 has computed
}

TEST(ReplayPackets, ARankMayBeOnAnotherNode) {
  PacketNetwork far = network("8");
  const ReplayProgram program = program_with(one_message);
  std::vector<NodeId> nodes;
  for (const std::int32_t node : {0, 4}) nodes.push_back(NodeId{node});
  far.placement = *Placement::on_nodes(far.job.slots, nodes);
  const auto near = times_of(program, network("8")), there = times_of(program, far);
  ASSERT_TRUE(near && there);
  EXPECT_EQ(there->total, near->total + 3 * 100000u); // four hops in place of one
}

TEST(ReplayPackets, FactorsScaleTheNetwork) {
  const ReplayProgram program = program_with(one_message);
  const auto total = [&](const NetworkFactors& factors) {
    PacketNetwork scaled_network = network("4");
    scaled_network.job.machine = scaled(std::move(scaled_network.job.machine), factors);
    return times_of(program, scaled_network)->total / 1000;
  };
  EXPECT_EQ(total({}), 7120u);
  EXPECT_EQ(total({0.5, 1, 1}), 7120u - 50);
  EXPECT_EQ(total({1, 0.5, 1}), 7120u - 2500);
  EXPECT_EQ(total({1, 1, 2}), 7120u - 500);
}

TEST(ReplayPackets, OnASingleNodeBandwidthIsThatOfItsMemory) {
  Machine machine = network("4").job.machine;
  const double rate = machine.node.shared_memory_bandwidth.value.value;
  EXPECT_EQ(scaled(machine, {1, 1, 2}).node.shared_memory_bandwidth.value.value, rate) << "its network counts";
  machine.family = Family::single_node;
  machine.node.copies.emplace().copy_memory.value = {rate};
  const NodeNumbers node = scaled(machine, {0.5, 1, 2}).node;
  EXPECT_EQ(node.shared_memory_bandwidth.value.value, 2 * rate);
  EXPECT_EQ(node.copies->copy_memory.value.value, 2 * rate);
  EXPECT_EQ(node.shared_memory_latency.value.value, machine.node.shared_memory_latency.value.value / 2);
}

constexpr std::int32_t few = 6; // ranks

// Of messages that block, with computing of up to a microsecond before each, and after the last.
ReplayProgram random_program(std::mt19937& random) {
  std::vector<Events> events(few);
  for (int step = 0; step < 40; ++step) {
    const auto from = static_cast<std::int32_t>(random() % few);
    const auto to = static_cast<std::int32_t>((static_cast<std::uint32_t>(from) + 1 + random() % (few - 1)) % few);
    const auto message = [&](std::int32_t of, EventKind kind, std::int32_t peer) {
      auto& rank = events[static_cast<std::size_t>(of)];
      for (const Event& e : {compute(random() % 1000), enter(0), event(kind, peer, 8, 1), leave()}) rank.push_back(e);
    };
    message(from, EventKind::send, to), message(to, EventKind::receive, from);
  }
  for (Events& each : events) each.push_back(compute(500));
  return program_with(events);
}

// What is left on an ideal network is the same in both models.
TEST(ReplayPackets, BothModelsHaveTheSameIdealNetwork) {
  std::mt19937 random(5);
  for (int turn = 0; turn < 20; ++turn) {
    const ReplayProgram program = random_program(random);
    const auto packets = ideal_network_times(program, quiet()), loggops = times_of(program, ideal_network());
    ASSERT_TRUE(packets && loggops);
    EXPECT_EQ(packets->end, loggops->end);
    EXPECT_EQ(packets->sites[0].time, loggops->sites[0].time);
    const Times real = in_packets(program, "6");
    for (std::size_t r = 0; r < few; ++r) EXPECT_LE(packets->end[r], real.end[r]);
  }
}

goal::NoiseModel noise_of(goal::NoiseModel::Kind kind, Time length, Time interval) {
  goal::NoiseModel noise;
  noise.kind = kind, noise.length = length, noise.interval = interval, noise.every = 2, noise.seed = 3;
  return noise;
}

// Without a network all models give noise the same work at the same times, to the picosecond.
TEST(ReplayNoise, IsTheSameInAllModels) {
  using enum goal::NoiseModel::Kind;
  std::mt19937 random(6);
  for (int turn = 0; turn < 20; ++turn) {
    const ReplayProgram program = random_program(random);
    TimesOptions options;
    options.engine.noise = noise_of(turn % 2 ? periodic : exponential, 300'000, 2'000'000);
    const FluidNetwork network{Job(packet::torus("6")), std::nullopt, options.engine.noise};
    const auto hosts = ideal_network_times(program, network), loggops = times_of(program, ideal_network(), options);
    ASSERT_TRUE(hosts && loggops);
    EXPECT_EQ(hosts->end, loggops->end);
    EXPECT_EQ(hosts->computing, loggops->computing) << "which noise is no part of";
    EXPECT_GE(hosts->total, ideal_network_times(program, quiet())->total);
    EXPECT_GT(hosts->lost_to_noise, 0U);
  }
}

// A detour of 1 us at this time of all ranks, once in 100 us. Noise begins at a phase, which is found here.
goal::NoiseModel detour_at(Time time, std::int32_t rank) {
  constexpr Time length = 1'000'000, interval = 100'000'000;
  goal::NoiseModel noise;
  noise.kind = goal::NoiseModel::Kind::trace, noise.interval = interval, noise.cosched = true;
  noise.detours = {{0, length}};
  Time within = 0;
  while (goal::Noise(noise, 1).lost(0, within, 1) == 0) within += length / 2;
  const Time begin = within + interval + goal::Noise(noise, 1).lost(0, within, 1) - length;
  noise.detours = {{(time + interval - begin % interval) % interval, length}};
  noise.ranks = {{rank, rank}};
  EXPECT_TRUE(check(noise));
  return noise;
}

TEST(ReplayNoise, LengthensCalcsSendsAndWhatFollowsAnArrival) {
  const ReplayProgram program = program_with(one_message);
  PacketNetwork packets = network("4");
  const Time quiet = times_of(program, packets)->total;
  // From 0.5 us on for 1 us, then not again: the computing of 1 us of rank 0 ends so much later.
  const auto with = [&](Time start, std::int32_t rank) {
    packets.options.noise = detour_at(start, rank);
    const auto found = times_of(program, packets);
    EXPECT_TRUE(found);
    EXPECT_GE(found->lost_to_noise, found->total - quiet);
    return found->total - quiet;
  };
  EXPECT_EQ(with(500'000, 0), 1'000'000u) << "the calc";
  EXPECT_EQ(with(2'000'000, 0), 1'000'000u) << "the send, from 1 to 3 us";
  EXPECT_EQ(with(3'500'000, 0), 0u) << "the message is on its way";
  EXPECT_EQ(with(3'500'000, 1), 400'000u) << "it arrives at 4.1 us and is taken when the detour is over";
  EXPECT_EQ(with(5'000'000, 1), 1'000'000u) << "relaying after the arrival, from 4.1 to 7.1 us";
  const FluidNetwork fluid{packets.job, std::nullopt, std::nullopt};
  FluidNetwork noisy = fluid;
  noisy.noise = detour_at(500'000, 0);
  EXPECT_EQ(times_of(program, noisy)->total - times_of(program, fluid)->total, 1'000'000u);
}

TEST(ReplayNoise, OfARankThatIsNotThereIsAnError) {
  const ReplayProgram program = program_with(one_message);
  PacketNetwork packets = network("4");
  packets.options.noise = noise_of(goal::NoiseModel::Kind::periodic, 1, 10);
  packets.options.noise->ranks = {{2, 2}};
  const auto found = times_of(program, packets);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().problem.find("ranks with noise must be from 0 to 1"), std::string::npos);
}

// Its trees need the axes of a torus, which a row of ranks has not.
TEST(ReplayPackets, CollectivesOfAllRanksKnowTheirPlaces) {
  const std::vector<Events> events(16, {enter(0), collective(CollectiveKind::allreduce, 8 * 4096), leave()});
  Recording recording = recording_of(events);
  ASSERT_TRUE(recording.complete());
  const Choice choice{*Registry::standard().find(CollectiveKind::allreduce, "bucket"), {}};
  EXPECT_FALSE(program_of(recording, std::vector{choice}));
  ReplayOptions options;
  options.space = network("4x4").job.rank_space();
  const auto program = program_of(recording, std::vector{choice}, options);
  ASSERT_TRUE(program) << program.error().sentence();
  EXPECT_GT(in_packets(*program, "4x4").packets->traffic.packets, 0u);
}

// Each rank takes 5 us more for its part of the allreduce, before what it computes next.
TEST(ReplayPackets, ACallMayTakeLongerThanItsAlgorithm) {
  const std::vector<Events> events(
      4, {compute(100), enter(0), collective(CollectiveKind::allreduce, 8), leave(), compute(100)});
  Recording recording = recording_of(events);
  ASSERT_TRUE(recording.complete());
  const auto total = [&](double more) {
    const Choice choice{*Registry::standard().find(CollectiveKind::allreduce, "recursive_doubling"), {}, more};
    const auto program = program_of(recording, std::vector{choice});
    EXPECT_TRUE(program) << program.error().sentence();
    return in_packets(*program, "4").total;
  };
  EXPECT_EQ(total(5e-6), total(0) + 5'000'000);
}

TEST(ReplayPackets, OnlyCommunicatorsOfAllRanksInTheirOrderAreLikeTheWorld) {
  Recording recording = recording_of(std::vector<Events>(3));
  const std::uint32_t duplicate = recording.add_communicator({0, 1, 2}), turned = recording.add_communicator({2, 1, 0}),
                      part = recording.add_communicator({0, 1});
  const auto like = [&](std::uint32_t c) { return is_like_world(recording, c); };
  EXPECT_EQ(std::tuple(like(0), like(duplicate), like(turned), like(part)), std::tuple(true, true, false, false));
}

TEST(ReplayPackets, ErrorsOfTheModelAreTold) {
  const auto few = times_of(program_with(one_message), PacketNetwork{Job(packet::torus("1x2")), std::nullopt, {}});
  EXPECT_TRUE(few);
  const std::vector<Events> three{
      {enter(), event(EventKind::send, 2, 8, 7), leave()}, {}, {enter(), event(EventKind::receive, 0, 8, 7), leave()}};
  const auto none = times_of(program_with(three), network("2"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().problem, "the job must have a slot for each of 3 ranks (got 2)");
  ReplayProgram huge;
  huge.graphs = goal::Graphs(1 << 22);
  const auto large = times_of(huge, network("2"));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().problem,
            "the ranks must have at most 4194304 processors and interfaces together (got 8388608)");
}

constexpr const char* two_processors = "num_ranks 2\n"
                                       "rank 0 {\na: calc 1000 cpu 0\nb: calc 400 cpu 1\nc: send 8b to 1\n"
                                       "c requires a\nd: calc 500\nd requires c\n}\n"
                                       "rank 1 {\na: recv 8b from 0\nb: calc 0\nb requires a\n}\n";

// Rank 0 computes while any of its processors does; rank 1 never.
TEST(ReplayGoal, TimeWithoutComputingIsThatOfMessages) {
  const ReplayProgram program = program_of_text(two_processors);
  loggp::LogGopsParameters parameters = *loggp::parse_parameters("L=2000,o=100,S=100", {});
  TimesOptions options;
  options.most_intervals = 10;
  const auto times = times_of(program, parameters, options);
  ASSERT_TRUE(times) << times.error().sentence();
  EXPECT_EQ(times->end, (std::vector<Time>{1600000, 3200000}));
  EXPECT_EQ(times->computing, (std::vector<Time>{1500000, 0}));
  EXPECT_EQ(times->sites[0].time, 100000u + 3200000u);
  EXPECT_EQ(times->sites[0].count, 2);
  EXPECT_EQ(times->regions[0].time, 1500000u);
  EXPECT_EQ(times->intervals.size(), 4u);
  const Times packets = in_packets(program, "2");
  EXPECT_EQ(packets.computing, times->computing);
  EXPECT_EQ(packets.total, (1000 + 2000 + 100 + 8 + 3000) * Time{1000});
}

TEST(ReplayGoal, ComputingIsScaledAndBalanced) {
  loggp::LogGopsParameters parameters = *loggp::parse_parameters("L=2000,o=100,S=100", {});
  ReplayOptions options;
  options.speed = 2;
  EXPECT_EQ(times_of(program_of_text(two_processors, options), parameters)->total, 500000u + 2200000u);
  const std::string uneven = "num_ranks 2\nrank 0 {\ncalc 1000\n}\nrank 1 {\ncalc 3000\n}\n";
  options = {};
  options.balanced = true;
  const ReplayProgram balanced = program_of_text(uneven, options);
  EXPECT_EQ(times_of(balanced, parameters)->end, std::vector<Time>(2, 2000000));
  EXPECT_EQ(balanced.graphs.different(), 1u);
}

TEST(ReplayGoal, TooManyOperationsAreOneSentence) {
  const auto graphs = goal::parse_text(two_processors, "a.goal");
  ReplayOptions options;
  options.most = 5;
  const auto program = program_of(*graphs, options);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().problem, "the program must be at most 5 operations (got 6)");
}

// What a replay writes as GOAL has the same times again.
TEST(ReplayGoal, ARecordingAsGoalHasTheSameTimes) {
  std::vector<Events> ring;
  for (std::int32_t r = 0; r < 8; ++r)
    ring.push_back({compute(500 + 100 * r), enter(0), event(EventKind::send, (r + 1) % 8, 4000, 1),
                    event(EventKind::receive, (r + 7) % 8, 4000, 1), leave(), compute(300)});
  const ReplayProgram program = program_with(ring);
  const ReplayProgram again = program_of_text(goal::text_of(program.graphs));
  EXPECT_EQ(in_packets(program, "8").end, in_packets(again, "8").end);
  const loggp::LogGopsParameters parameters = *loggp::parse_parameters("L=2000,o=100,g=50,G=0.1,S=10000", {});
  EXPECT_EQ(times_of(program, parameters)->end, times_of(again, parameters)->end);
}

} // namespace
} // namespace kumihimo::replay
