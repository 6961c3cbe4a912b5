#include "goal/text.hpp"
#include "loggp/engine.hpp"
#include "loggp/queue.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace kumihimo::loggp {
namespace {

goal::Graphs graphs_of(const std::string& text) {
  auto graphs = goal::parse_text(text, "a.goal");
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  return *std::move(graphs);
}

LogGopsParameters parameters(std::string_view text) {
  auto parsed = parse_parameters(text, {});
  EXPECT_TRUE(parsed) << parsed.error().sentence();
  return *parsed;
}

std::vector<Time> ends(const std::string& text, std::string_view p, const EngineOptions& options = {}) {
  const auto outcome = run(graphs_of(text), parameters(p), options);
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  std::vector<Time> nanoseconds;
  for (const Time end : outcome->end) nanoseconds.push_back(end / 1000);
  return nanoseconds;
}

constexpr std::string_view usual = "L=2500,o=1500,g=1000,G=6,S=65535";

TEST(LogGopsParameters, AreTheLettersOfThePapers) {
  EXPECT_EQ(parameters("L=2500, o=1.5 ,g=0,G=0.04,O=1,S=65535"),
            (LogGopsParameters{2'500'000, 1'500, 0, 40'000, 1'000'000, 65535}));
  EXPECT_EQ(parameters("R=2.5").R, 2'500);
  for (const char* wrong : {"l=1", "L", "L=", "L=-1", "L=1,L=2", "S=1.5", "G=1e10", "L=nan", "o=1;g=2"})
    EXPECT_FALSE(parse_parameters(wrong, {})) << wrong;
}

// By hand: the send occupies o; the message arrives o + L later; the receiver is busy for o + (s-1) G.
TEST(Engine, OneMessage) {
  const std::string text = "num_ranks 2\nrank 0 {\nsend 101b to 1\n}\nrank 1 {\nrecv 101b from 0\n}\n";
  EXPECT_EQ(ends(text, usual), (std::vector<Time>{1500, 1500 + 2500 + 1500 + 600}));
  EXPECT_EQ(ends(text, "L=2500,o=1500,g=1000,G=6,O=10,S=65535"), (std::vector<Time>{2500, 4000 + 1500 + 1000}));
}

// s - 1 is -1: no processor or interface is free before it was taken.
TEST(Engine, AMessageWithoutBytesTakesNoNegativeTime) {
  const std::string text = "num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\n}\n";
  EXPECT_EQ(ends(text, "L=5,o=0,g=0,G=1000,O=1000,S=1"), (std::vector<Time>{0, 5}));
  EXPECT_EQ(ends(text, "L=5,o=3,g=0,G=1,O=1,S=1"), (std::vector<Time>{2, 8 + 2}));
}

// The second send waits for g + (s-1) G at the interface, the second arrival for the receiver.
TEST(Engine, MessagesOneBehindTheOther) {
  const std::string text = "num_ranks 2\nrank 0 {\nsend 1001b to 1 tag 1\nsend 1b to 1 tag 2\n}\n"
                           "rank 1 {\nrecv 1b from 0 tag 2\nrecv 1001b from 0 tag 1\n}\n";
  EXPECT_EQ(ends(text, usual), (std::vector<Time>{7000 + 1500, 4000 + 1500 + 6000 + 1500}));
}

TEST(Engine, ARendezvousEndsWhenTheReceiveTakesIt) {
  const std::string text = "num_ranks 2\nrank 0 {\na: send 100000b to 1\nb: calc 10\nb requires a\n}\n"
                           "rank 1 {\na: calc 1000000\nb: recv 100000b from 0\nb requires a\n}\n";
  EXPECT_EQ(ends(text, usual)[0], 1000000 + 10);
  EXPECT_EQ(ends(text, "L=2500,o=1500,g=1000,G=6,S=100000")[0], 1500 + 10);
}

// A message of more than S bytes arrives R later; others do not.
TEST(Engine, ARendezvousTakesItsTime) {
  const std::string text = "num_ranks 2\nrank 0 {\nsend 101b to 1\n}\nrank 1 {\nrecv 101b from 0\n}\n";
  EXPECT_EQ(ends(text, "L=2500,o=1500,g=1000,G=6,S=100,R=700")[1], 1500 + 2500 + 700 + 1500 + 600);
  EXPECT_EQ(ends(text, "L=2500,o=1500,g=1000,G=6,S=101,R=700")[1], 1500 + 2500 + 1500 + 600);
}

std::vector<Time> ends_on(std::int32_t processors, Time processor_switch, const std::string& text,
                          std::string_view letters = "L=100,o=10,g=0,G=0,S=1000") {
  LogGopsParameters p = parameters(letters);
  p.processors = processors, p.processor_switch = processor_switch * 1000;
  const auto outcome = run(graphs_of(text), p);
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  std::vector<Time> nanoseconds;
  for (const Time end : outcome->end) nanoseconds.push_back(end / 1000);
  return nanoseconds;
}

TEST(Engine, RanksTakeTurnsOnProcessorsThatTheyShare) {
  const std::string text =
      "num_ranks 3\nrank 0 {\ncalc 50\n}\nrank 1 {\ncalc 70\n}\nrank 2 {\na: calc 30\nb: calc 5\nb requires a\n}\n";
  EXPECT_EQ(ends_on(0, 3, text), (std::vector<Time>{50, 70, 35})) << "each has its own";
  EXPECT_EQ(ends_on(2, 3, text), (std::vector<Time>{50, 70, 50 + 3 + 35})) << "2 is behind 0";
  EXPECT_EQ(ends_on(1, 3, text), (std::vector<Time>{50, 50 + 3 + 70, 123 + 3 + 35}));
}

// The message is there at 110, when its receiver's processor serves the other rank.
TEST(Engine, AMessageWaitsForAProcessorThatServesAnotherRank) {
  const std::string text =
      "num_ranks 4\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\nrank 3 {\ncalc 500\n}\n";
  EXPECT_EQ(ends_on(4, 7, text)[1], 120);
  EXPECT_EQ(ends_on(2, 7, text)[1], 500 + 7 + 10);
}

// Rank 2 has the processor of rank 0 from 57 on, after a switch of 7: its first message leaves at 67, and its interface
// begins the second one g = 30 later. They arrive at 167 and 197 on the processor of rank 3, which no other rank has.
TEST(Engine, WhatARankSendsBeginsAfterTheSwitch) {
  const std::string text = "num_ranks 4\nrank 0 {\ncalc 50\n}\nrank 2 {\nsend 1b to 3 tag 1\nsend 1b to 3 tag 2\n}\n"
                           "rank 3 {\nrecv 1b from 2 tag 1\nrecv 1b from 2 tag 2\n}\n";
  EXPECT_EQ(ends_on(2, 7, text, "L=100,o=10,g=30,G=0,S=1000"), (std::vector<Time>{50, 0, 97, 207}));
}

// Rank 3 takes the first message at 507, the second one g = 30 later. A rendezvous ends when it is taken.
TEST(Engine, WhatARankReceivesBeginsAfterTheSwitch) {
  const std::string text = "num_ranks 4\nrank 0 {\nsend 1b to 3 tag 1\nsend 1b to 3 tag 2\n}\nrank 1 {\ncalc 500\n}\n"
                           "rank 3 {\nrecv 1b from 0 tag 1\nrecv 1b from 0 tag 2\n}\n";
  EXPECT_EQ(ends_on(2, 7, text, "L=100,o=10,g=30,G=0,S=1000"), (std::vector<Time>{40, 500, 0, 547}));
  const std::string rendezvous = "num_ranks 4\nrank 0 {\nsend 1b to 3\n}\nrank 1 {\ncalc 500\n}\n"
                                 "rank 3 {\nrecv 1b from 0\n}\n";
  EXPECT_EQ(ends_on(2, 7, rendezvous, "L=100,o=10,g=0,G=0,S=0"), (std::vector<Time>{507, 500, 0, 517}));
}

TEST(Engine, StartsAndEndsAreDifferentThings) {
  const std::string before = "num_ranks 1\nrank 0 {\na: calc 100\nb: calc 10 cpu 1\n";
  EXPECT_EQ(ends(before + "b requires a\n}\n", usual), (std::vector<Time>{110}));
  EXPECT_EQ(ends(before + "b irequires a\n}\n", usual), (std::vector<Time>{100}));
}

TEST(Engine, WhatNeverMatchesIsAnErrorThatNamesIt) {
  const auto sent = run(graphs_of("num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 3\n}\n"), parameters(usual));
  ASSERT_FALSE(sent);
  EXPECT_TRUE(sent.error().sentence().starts_with(
      "rank 0: send 'l1' (8 bytes to rank 1, tag 3) has no matching receive; in all 1 sends were never received, "
      "0 receives never got a message, and 0 operations were not completed"))
      << sent.error().sentence();
  const auto waits =
      run(graphs_of("num_ranks 2\nrank 1 {\na: recv 8b from 0\nb: calc 5\nb requires a\n}\n"), parameters(usual));
  ASSERT_FALSE(waits);
  EXPECT_TRUE(waits.error().sentence().starts_with(
      "rank 1: receive 'a' (8 bytes from rank 0, tag 0) has no matching send; in all 0 sends"))
      << waits.error().sentence();
}

TEST(Engine, RanksThatWaitForEachOtherAreNotTakenForMessagesWithoutPartner) {
  const auto rank = [](const char* own, const char* other) {
    return fmt::format("rank {0} {{\na: send 1000b to {1} tag 3\nb: recv 1000b from {1} tag 3\nb requires a\n}}\n", own,
                       other);
  };
  const std::string text = "num_ranks 2\n" + rank("0", "1") + rank("1", "0");
  EXPECT_TRUE(run(graphs_of(text), parameters("L=2500,o=1500,g=1000,G=6,S=1000")));
  const auto head_to_head = run(graphs_of(text), parameters("L=2500,o=1500,g=1000,G=6,S=999"));
  ASSERT_FALSE(head_to_head);
  EXPECT_TRUE(head_to_head.error().sentence().starts_with(
      "rank 0: send 'a' (1000 bytes to rank 1, tag 3) waits for its receive, which never starts: ranks wait for each "
      "other; in all 2 sends"))
      << head_to_head.error().sentence();
}

// Random messages in an order that no rank's dependencies contradict.
std::string random_goal(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const std::uint64_t ranks = 2 + below(9);
  std::vector<std::vector<std::string>> operations(ranks);
  std::vector<std::string> waits(ranks);
  for (std::uint64_t message = 0; message < 1 + below(120); ++message) {
    const std::uint64_t from = below(ranks), to = below(ranks), bytes = below(4) == 0 ? 100000 : below(2000);
    const auto add = [&](std::uint64_t rank, std::string operation) {
      auto& of = operations[rank];
      const std::size_t number = of.size();
      of.push_back(fmt::format("l{}: {}\n", number, operation));
      for (std::uint64_t edge = 0; number > 0 && edge < below(3); ++edge)
        waits[rank] += fmt::format("l{} {} l{}\n", number, below(4) ? "requires" : "irequires", below(number));
    };
    if (from == to) {
      add(from, fmt::format("calc {}", below(5000)));
      continue;
    }
    const std::uint64_t tag = seed % 2 == 0 ? message : below(3);
    add(from, fmt::format("send {}b to {} tag {}", bytes, to, tag));
    add(to, fmt::format("recv {}b from {} tag {}", bytes, from, tag));
  }
  std::string text = fmt::format("num_ranks {}\n", ranks);
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    text += fmt::format("rank {} {{\n", rank);
    for (const std::string& operation : operations[rank]) text += operation;
    text += waits[rank] + "}\n";
  }
  return text;
}

// Matching by lists is the golden copy of matching by a table.
TEST(Engine, BothMatchingsGiveTheSameTimes) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const goal::Graphs graphs = graphs_of(random_goal(seed));
    EngineOptions lists;
    lists.lists = true;
    const LogGopsParameters p = parameters(seed % 3 == 0 ? "L=1000,o=500,g=100,G=1,O=2,S=1000" : usual);
    const auto one = run(graphs, p), other = run(graphs, p, lists);
    ASSERT_EQ(one.ok(), other.ok()) << seed;
    if (!one.ok()) continue; // messages of one tag overtook each other by irequires: both say so
    EXPECT_EQ(one->end, other->end) << seed;
    EXPECT_EQ(one->operations, other->operations) << seed;
    ++compared;
  }
  EXPECT_GT(compared, 75);
}

// Operations at random on few ranks, of which most are ready at once: many wait for a processor or an interface.
std::string crowd(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const std::uint64_t ranks = 2 + below(4), shared = 1 + below(3);
  std::vector<std::string> operations(ranks);
  const auto where = [&] { return fmt::format("cpu {} nic {}", below(shared), below(shared)); };
  for (std::uint64_t message = 0; message < 60 + below(200); ++message) {
    const std::uint64_t from = below(ranks), to = (from + 1 + below(ranks - 1)) % ranks;
    const std::uint64_t bytes = below(3) * 500 + 1; // many ends at the same time
    if (below(4) == 0) operations[from] += fmt::format("calc {} cpu {}\n", below(4) * 100, below(shared));
    operations[from] += fmt::format("send {}b to {} tag {} {}\n", bytes, to, message, where());
    operations[to] += fmt::format("recv {}b from {} tag {} {}\n", bytes, from, message, where());
  }
  std::string text = fmt::format("num_ranks {}\n", ranks);
  for (std::uint64_t rank = 0; rank < ranks; ++rank) text += fmt::format("rank {} {{\n{}}}\n", rank, operations[rank]);
  return text;
}

struct Log : Observer {
  void busy(const ProcessorWork& work) override {
    text += fmt::format("{} {} {} {} {} {}\n", work.rank, work.peer, work.operation, static_cast<int>(work.kind),
                        work.start, work.end);
  }
  std::string text;
};

// Each operation that waits tries again whenever its processor is free, one by one: the golden copy of waiting lists.
// All starts are the same, also their order where times are equal.
TEST(Engine, WaitingListsGiveTheSameStarts) {
  constexpr std::array<std::string_view, 5> letters{usual, "L=1000,o=500,g=100,G=1,O=2,S=1000",
                                                    "L=0,o=0,g=0,G=0,O=0,S=65535", "L=100,o=100,g=0,G=0,O=0,S=400",
                                                    "L=100,o=0,g=100,G=0,O=0,S=65535"};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const goal::Graphs graphs = graphs_of(crowd(seed));
    Log log, golden;
    EngineOptions lists, one_by_one;
    lists.observers = {&log}, one_by_one.observers = {&golden};
    one_by_one.lists = true;
    if (seed % 3 == 0) {
      lists.noise.emplace(), lists.noise->length = 300'000, lists.noise->interval = 1'000'000;
      one_by_one.noise = lists.noise;
    }
    LogGopsParameters p = parameters(letters[seed % letters.size()]);
    if (seed % 2 == 0) p.processors = 1 + static_cast<std::int32_t>(seed % 3), p.processor_switch = 40'000;
    const auto fast = run(graphs, p, lists), slow = run(graphs, p, one_by_one);
    ASSERT_TRUE(fast.ok() && slow.ok()) << seed;
    EXPECT_EQ(fast->end, slow->end) << seed;
    ASSERT_EQ(log.text, golden.text) << seed;
    EXPECT_FALSE(log.text.empty());
  }
}

TEST(Queue, IsSortedByTimeAndOrder) {
  std::mt19937_64 random(3);
  EventQueue queue;
  std::set<std::pair<std::uint64_t, std::uint64_t>> golden;
  std::uint64_t order = 0, now = 0;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 10 == 0 && now > 0) { // at the time of the last one, before what is there
      const std::uint64_t before = 4 * (random() % (order / 4 + 1)) + 1 + random() % 3;
      if (golden.insert({now, before}).second) queue.insert({now, before, 0, 0, 0, LogGopsEventKind::wake});
    } else if (random() % 5 < 3) {
      const std::uint64_t time = now + (random() % 4 == 0 ? 0 : random() % (std::uint64_t{1} << (random() % 40)));
      queue.push({time, order, 0, 0, 0, LogGopsEventKind::start});
      golden.insert({time, order});
      order += 4;
    } else if (const LogGopsEvent* event = queue.take()) {
      ASSERT_EQ(std::pair(event->time, event->order), *golden.begin());
      golden.erase(golden.begin());
      now = event->time;
    } else {
      ASSERT_TRUE(golden.empty());
    }
  }
}

TEST(Engine, NoiseOnRanksBeyondTheJobIsRefused) {
  NoiseModel some;
  some.length = 100, some.interval = 1000, some.ranks = {{0, 0}, {1, 3}};
  const goal::Graphs graphs = graphs_of("num_ranks 2\nrank 0 {\ncalc 10\n}\n");
  EXPECT_FALSE(run(graphs, parameters(usual), {.noise = some}));
}

TEST(Engine, NoiseMakesABarrierLaterAndSaysHowMuchItTook) {
  std::string text = "num_ranks 64\n";
  for (int rank = 0; rank < 64; ++rank) {
    text += fmt::format("rank {} {{\n", rank);
    for (int k = 0; k < 6; ++k) {
      const int step = 1 << k;
      text += fmt::format("s{}: send 1b to {} tag {}\nr{}: recv 1b from {} tag {}\n", k, (rank + step) % 64, k, k,
                          (rank + 64 - step) % 64, k);
      if (k > 0)
        text += fmt::format("s{} requires s{}\ns{} requires r{}\nr{} requires s{}\nr{} requires r{}\n", k, k - 1, k,
                            k - 1, k, k - 1, k, k - 1);
    }
    text += "}\n";
  }
  const goal::Graphs graphs = graphs_of(text);
  EXPECT_EQ(graphs.different(), 1U);
  const auto quiet = run(graphs, parameters(usual));
  EngineOptions noisy;
  noisy.noise = NoiseModel{NoiseModel::Kind::periodic, 20'000'000, 5'000'000, {}, false, 1, 7};
  const auto loud = run(graphs, parameters(usual), noisy);
  ASSERT_TRUE(quiet && loud);
  EXPECT_EQ(quiet->last, (6 * (1500 + 2500 + 1500)) * 1000U);
  EXPECT_GT(loud->last, quiet->last);
  EXPECT_GT(loud->lost_to_noise, 0U);
  EXPECT_EQ(quiet->messages, 64U * 6);
}

} // namespace
} // namespace kumihimo::loggp
