// Ranks that die in the middle: times by hand, and the set of operations that end against the golden copy.
#include "../goal/fixed_point.hpp"
#include "goal/text.hpp"
#include "loggp/observed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace kumihimo::loggp::deaths {
namespace {

using goal::never;
using State = goal::Aftermath::State;

constexpr std::string_view usual = "L=2500,o=1500,g=1000,G=6,O=0,S=65535";

goal::Graphs graphs_of(const std::string& text) {
  auto graphs = goal::parse_text(text, "a.goal");
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  return *std::move(graphs);
}

ObservedRun with(const goal::Graphs& graphs, std::string_view p, goal::Deaths deaths) {
  EngineOptions options;
  options.deaths = std::move(deaths);
  auto ran = run_observed(graphs, *parse_parameters(p, {}), options);
  EXPECT_TRUE(ran) << ran.error().sentence();
  return *std::move(ran);
}

constexpr Time ns = 1000;
const std::string two =
    "num_ranks 2\nrank 0 {\na: calc 1000\nb: send 101b to 1\nb requires a\nc: calc 5000\nc requires b\n}\n"
    "rank 1 {\na: recv 101b from 0\nb: calc 10\nb requires a\n}\n";

// The send starts at 1000; its last byte leaves at 1000 + 1500 + 600 = 3100, and it arrives at 5000, busy until 7100.
TEST(Deaths, AMessageThatHasLeftArrives) {
  const goal::Graphs graphs = graphs_of(two);
  EXPECT_EQ(with(graphs, usual, {3101 * ns, never}).aftermath->complete, 1); // the calc after the send is lost
  const auto cut = *with(graphs, usual, {3100 * ns, never}).aftermath;
  EXPECT_EQ(cut.complete, 0);
  EXPECT_EQ(cut.died, 1);
  EXPECT_EQ(cut.waiting_directly, 1);
  EXPECT_EQ(cut.chain, (std::vector<std::string>{"rank 1: receive 'a' (101 bytes from rank 0, tag 0)"}));
  EXPECT_EQ(cut.chain_end, 0);
}

// Rank 2 sends from 57 on, since its processor served rank 0 until 50 and takes 7 to turn: the message has left at 67.
// Rank 3 has served rank 1 on its processor, and takes the message at 207.
TEST(Deaths, AreBeforeOrAfterASwitchHasDelayedAMessage) {
  const goal::Graphs graphs = graphs_of("num_ranks 4\nrank 0 {\ncalc 50\n}\nrank 1 {\ncalc 200\n}\n"
                                        "rank 2 {\nsend 1b to 3\n}\nrank 3 {\nrecv 1b from 2\n}\n");
  LogGopsParameters p = *parse_parameters("L=100,o=10,g=0,G=0,O=0,S=65535", {});
  p.processors = 2, p.processor_switch = 7 * ns;
  const auto complete = [&](goal::Deaths deaths) {
    EngineOptions options;
    options.deaths = std::move(deaths);
    return run_observed(graphs, p, options)->aftermath->complete;
  };
  EXPECT_EQ(complete({never, never, 68 * ns, never}), 4);
  EXPECT_EQ(complete({never, never, 66 * ns, never}), 2) << "neither rank 2 nor the one that waits for it";
  p.S = 0;
  EXPECT_EQ(complete({never, never, 208 * ns, never}), 4);
  EXPECT_EQ(complete({never, never, 206 * ns, never}), 2) << "a rendezvous stays with its sender until 207";
  EXPECT_EQ(complete({never, never, never, 206 * ns}), 2) << "whose send nothing takes";
}

// The send has ended at 1500, since its processor is free; the interface still moves bytes until 2100.
TEST(Deaths, ARankThatHasDoneAllMayTakeItsLastMessageWithIt) {
  const goal::Graphs graphs = graphs_of("num_ranks 2\nrank 0 {\nsend 101b to 1\n}\nrank 1 {\nrecv 101b from 0\n}\n");
  const auto after = *with(graphs, usual, {2000 * ns, never}).aftermath;
  EXPECT_EQ(after.ranks[0].state, State::complete);
  EXPECT_EQ(after.waiting_directly, 1);
  EXPECT_EQ(after.chain_end, 0);
  EXPECT_EQ(with(graphs, usual, {2101 * ns, never}).aftermath->complete, 2);
}

TEST(Deaths, WhatIsUnderWayIsLost) {
  const goal::Graphs graphs = graphs_of("num_ranks 1\nrank 0 {\na: calc 100\nb: calc 50\nb requires a\n}\n");
  const ObservedRun ran = with(graphs, usual, {120 * ns});
  EXPECT_EQ(ran.outcome.ends->of(0, 0), 100 * ns);
  EXPECT_EQ(ran.outcome.ends->of(0, 1), never);
  EXPECT_EQ(ran.outcome.last, 120 * ns);
  EXPECT_DOUBLE_EQ(ran.of_rank(0).computing, 120e-9);
  EXPECT_EQ(ran.aftermath->operations_lost, 1U);
  EXPECT_EQ(ran.aftermath->computing, 150 * ns);
  EXPECT_EQ(ran.aftermath->computing_lost, 100 * ns);
}

TEST(Deaths, AReceiverThatIsDeadHoldsUpLongSendsAlone) {
  const std::string text = "num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: calc 10\nb requires a\n}\n"
                           "rank 1 {\na: recv 1000b from 0\nb: calc 99999\nb requires a\n}\n";
  EXPECT_EQ(with(graphs_of(text), usual, {never, 100 * ns}).aftermath->complete, 1);
  const auto longer = *with(graphs_of(text), "L=2500,o=1500,g=1000,G=6,O=0,S=999", {never, 100 * ns}).aftermath;
  EXPECT_EQ(longer.waiting_directly, 1);
  EXPECT_EQ(longer.chain, (std::vector<std::string>{"rank 0: send 'a' (1000 bytes to rank 1, tag 0)"}));
}

// A message above S stays with its sender until the receive takes it, at 1000000 ns.
TEST(Deaths, ALongMessageIsLostWithTheSenderThatKeepsIt) {
  const std::string text = "num_ranks 2\nrank 0 {\na: send 1000b to 1\n}\n"
                           "rank 1 {\na: calc 1000000\nb: recv 1000b from 0\nb requires a\n}\n";
  const goal::Graphs graphs = graphs_of(text);
  constexpr std::string_view rendezvous = "L=2500,o=1500,g=1000,G=6,O=0,S=999";
  EXPECT_EQ(with(graphs, rendezvous, {1000001 * ns, never}).aftermath->complete, 2);
  EXPECT_EQ(with(graphs, rendezvous, {1000000 * ns, never}).aftermath->waiting_directly, 1);
  EXPECT_EQ(with(graphs, usual, {20000 * ns, never}).aftermath->complete, 2); // eager: it left long ago
}

// 0 -> 1 -> 2 -> 3: each relays. Rank 3 waits for 2, 2 for 1, 1 for the dead rank.
TEST(Deaths, AChainOfWaits) {
  std::string text = "num_ranks 5\nrank 0 {\na: calc 1000\nb: send 8b to 1\nb requires a\n}\n";
  for (int rank = 1; rank < 4; ++rank)
    text +=
        fmt::format("rank {} {{\na: recv 8b from {}\nb: send 8b to {}\nb requires a\n}}\n", rank, rank - 1, rank + 1);
  text += "rank 4 {\na: recv 8b from 3\n}\n";
  const auto after = *with(graphs_of(text), usual, {500 * ns, never, never, never, never}).aftermath;
  EXPECT_EQ(after.waiting_directly, 1);
  EXPECT_EQ(after.waiting_indirectly, 3);
  EXPECT_EQ(after.ranks[4].waits, 4);
  EXPECT_EQ(after.last_progress, 0U);
  // The lowest one that waits is next to the dead rank; with rank 4 dead nobody waits at all.
  EXPECT_EQ(after.chain.size(), 1U);
  EXPECT_EQ(with(graphs_of(text), usual, {never, never, never, never, 1}).aftermath->complete, 4);
  // Rank 2 dies: 0 and 1 complete, 3 waits for it, 4 for 3.
  const auto middle = *with(graphs_of(text), usual, {never, never, 500 * ns, never, never}).aftermath;
  EXPECT_EQ(middle.complete, 2);
  EXPECT_EQ(middle.chain_end, 2);
  EXPECT_EQ(middle.ranks[4].waits, 2);
  EXPECT_EQ(middle.complete_until, middle.ranks[1].last);
}

TEST(Deaths, AReceiveFromAnyRankWaitsForTheSenderThatDied) {
  const std::string text =
      "num_ranks 3\nrank 0 {\na: calc 9000\nb: send 8b to 1\nb requires a\n}\nrank 2 {\nsend 8b to "
      "1\n}\nrank 1 {\na: recv 8b from -1\nb: recv 8b from -1\nb requires a\n}\n";
  const auto after = *with(graphs_of(text), usual, {100 * ns, never, never}).aftermath;
  EXPECT_EQ(after.complete, 1);
  EXPECT_EQ(after.waiting_directly, 1);
  EXPECT_EQ(after.chain, (std::vector<std::string>{"rank 1: receive 'b' (8 bytes from any rank, tag 0)"}));
}

TEST(Deaths, NeedATimeForEachRank) {
  EngineOptions options;
  options.deaths = {never};
  EXPECT_FALSE(run(graphs_of(two), *parse_parameters(usual, {}), options));
}

// Sends of all ranks, as they start.
struct Sends : Observer {
  std::map<std::pair<std::int32_t, std::uint32_t>, Time> start;
  void busy(const ProcessorWork& work) override {
    if (work.kind == goal::Kind::send) start[{work.rank, work.operation}] = work.start;
  }
};

struct Case {
  goal::Graphs graphs;
  LogGopsParameters parameters;
  std::optional<NoiseModel> noise;
  goal::Ends ends; // without faults
  Time last = 0;
  Sends sends;
};

Case random_case(std::uint64_t seed) {
  const std::string_view letters[] = {usual, "L=2500,o=1500,g=1000,G=6,O=0,S=2000", "L=100,o=700,g=900,G=1,O=3,S=1000",
                                      "L=0,o=0,g=0,G=1,O=0,S=0"};
  goal::Graphs graphs = graphs_of(goal::random_program(seed));
  const LogGopsParameters parameters = *parse_parameters(letters[seed % 4], {});
  Sends sends;
  EngineOptions options;
  if (seed % 7 == 0)
    options.noise = NoiseModel{}, options.noise->length = 300 * ns, options.noise->interval = 2000 * ns;
  options.observers.push_back(&sends);
  options.deaths.assign(static_cast<std::size_t>(graphs.ranks()), never);
  auto outcome = run(graphs, parameters, options);
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  return {std::move(graphs), parameters, options.noise, *outcome->ends, outcome->last, sends};
}

// What the golden copy says of deaths, all at one time.
goal::Done golden(const Case& of, const goal::Deaths& deaths) {
  const Time death = *std::min_element(deaths.begin(), deaths.end()); // of all that die
  std::vector<bool> dies;
  for (const Time each : deaths) dies.push_back(each != never);
  const auto ended = [&](std::int32_t rank, std::uint32_t i) { return of.ends.of(rank, i) < death; };
  const auto left = [&](std::int32_t rank, std::uint32_t send) {
    const std::uint64_t bytes = of.graphs.of(rank).operations[send].size;
    const std::uint64_t more = bytes == 0 ? 0 : ((bytes - 1) * std::max(of.parameters.G, of.parameters.O) + 500) / 1000;
    return of.sends.start.at({rank, send}) + of.parameters.o + more < death;
  };
  return goal::FixedPoint{of.graphs, dies, ended, left, of.parameters.S}.solve();
}

goal::Deaths deaths_at(const Case& of, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  goal::Deaths deaths(static_cast<std::size_t>(of.graphs.ranks()), never);
  const auto rank = static_cast<std::int32_t>(random() % deaths.size());
  Time time = random() % (of.last + 2);
  if (seed % 3 == 0 && !of.graphs.of(rank).operations.empty()) // exactly when an operation ends
    time = of.ends.of(rank, static_cast<std::uint32_t>(random() % of.graphs.of(rank).operations.size()));
  deaths[static_cast<std::size_t>(rank)] = time;
  if (seed % 5 == 0) deaths[random() % deaths.size()] = time; // two at once
  return deaths;
}

TEST(Deaths, WhichOperationsEndIsWhatTheGraphsSay) {
  int fewer = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Case of = random_case(seed);
    const goal::Deaths deaths = deaths_at(of, seed);
    EngineOptions options;
    options.deaths = deaths, options.noise = of.noise;
    const auto outcome = run(of.graphs, of.parameters, options);
    ASSERT_TRUE(outcome);
    const goal::Done expected = golden(of, deaths);
    ASSERT_EQ(goal::done(of.graphs, *outcome->ends), expected) << seed;
    const Time death = *std::min_element(deaths.begin(), deaths.end());
    for (std::int32_t rank = 0; rank < of.graphs.ranks(); ++rank)
      for (std::uint32_t i = 0; i < of.graphs.of(rank).operations.size(); ++i)
        if (of.ends.of(rank, i) < death) {
          ASSERT_EQ(outcome->ends->of(rank, i), of.ends.of(rank, i)) << seed;
        }
    fewer += expected != goal::done(of.graphs, of.ends);
    // The aftermath counts the same ranks.
    const auto after = goal::aftermath_of(of.graphs, deaths, *outcome->ends);
    std::int64_t complete = 0;
    for (const auto& rank : expected) complete += std::find(rank.begin(), rank.end(), false) == rank.end();
    EXPECT_EQ(after.complete, complete) << seed;
    EXPECT_EQ(after.complete + after.died + after.waiting_directly + after.waiting_indirectly, of.graphs.ranks());
    for (const auto& each : after.ranks) EXPECT_EQ(each.waits > 0, each.state == State::waits) << seed;
  }
  EXPECT_GT(fewer, 200); // deaths that matter
}

// What a wrong engine would do: forget the death, lose what has left, or let a dead rank go on.
TEST(Deaths, TheGoldenCopyCatchesWrongEngines) {
  int forgotten = 0, later = 0, other = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Case of = random_case(seed);
    const goal::Deaths deaths = deaths_at(of, seed);
    const goal::Done expected = golden(of, deaths);
    forgotten += goal::done(of.graphs, of.ends) != expected;
    const auto sabotaged = [&](const goal::Deaths& wrong) {
      EngineOptions options;
      options.deaths = wrong, options.noise = of.noise;
      return goal::done(of.graphs, *run(of.graphs, of.parameters, options)->ends) != expected;
    };
    goal::Deaths late = deaths, shifted = deaths;
    for (Time& each : late) each = each == never ? never : each + 4000 * ns;
    std::rotate(shifted.begin(), shifted.begin() + 1, shifted.end());
    later += sabotaged(late), other += sabotaged(shifted);
  }
  EXPECT_GT(forgotten, 20);
  EXPECT_GT(later, 10);
  EXPECT_GT(other, 20);
}

TEST(Deaths, AfterTheEndChangesNothing) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case of = random_case(seed);
    EngineOptions options;
    options.noise = of.noise;
    options.deaths.assign(static_cast<std::size_t>(of.graphs.ranks()), of.last + 1);
    const auto outcome = run(of.graphs, of.parameters, options);
    EXPECT_EQ(goal::done(of.graphs, *outcome->ends), goal::done(of.graphs, of.ends)) << seed;
    EXPECT_EQ(outcome->last, of.last);
    EXPECT_EQ(goal::aftermath_of(of.graphs, options.deaths, *outcome->ends).complete, of.graphs.ranks());
  }
}

// A rank that dies at 0 does what one without operations does: the others have the same operations done.
TEST(Deaths, AtTheBeginningIsToHaveNoOperations) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case of = random_case(seed);
    goal::Deaths deaths(static_cast<std::size_t>(of.graphs.ranks()), never), none = deaths;
    deaths[0] = 0;
    EngineOptions dead, empty;
    dead.deaths = deaths, empty.deaths = none;
    goal::Graphs without = graphs_of(goal::random_program(seed));
    without.set(0, {});
    const auto a = run(of.graphs, of.parameters, dead), b = run(without, of.parameters, empty);
    for (std::int32_t rank = 1; rank < of.graphs.ranks(); ++rank)
      for (std::uint32_t i = 0; i < of.graphs.of(rank).operations.size(); ++i)
        ASSERT_EQ(a->ends->of(rank, i) != never, b->ends->of(rank, i) != never) << seed;
  }
}

} // namespace
} // namespace kumihimo::loggp::deaths
