#include "loggp/engine.hpp"
#include "recorded.hpp"
#include "replay/graphs.hpp"
#include "replay/recording.hpp"
#include "replay/times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

namespace kumihimo::replay {
namespace {

std::vector<Choice> chosen(const Recording& recording, std::string_view algorithm) {
  std::vector<Choice> choices;
  for (const RecordedCollective& call : recording.calls())
    choices.push_back({*Registry::standard().find(all_collectives[call.collective], algorithm), {}});
  return choices;
}

loggp::LogGopsParameters parameters(std::string_view text) { return *loggp::parse_parameters(text, {}); }

// Nanoseconds at which each rank ends.
std::vector<std::uint64_t> ends_of(const std::vector<Events>& ranks, std::string_view letters,
                                   std::string_view algorithm = "", const ReplayOptions& options = {}) {
  Recording recording = recording_of(ranks);
  const Status complete = recording.complete();
  EXPECT_TRUE(complete) << complete.error().problem;
  const auto program = program_of(recording, chosen(recording, algorithm), options);
  EXPECT_TRUE(program) << program.error().problem;
  const auto outcome = loggp::run(program->graphs, parameters(letters));
  EXPECT_TRUE(outcome) << outcome.error().problem;
  std::vector<std::uint64_t> ends;
  for (const loggp::Time end : outcome->end) ends.push_back(end / 1000);
  return ends;
}

std::string problem_of(const std::vector<Events>& ranks) {
  Recording recording = recording_of(ranks);
  const Status complete = recording.complete();
  return complete ? "" : complete.error().problem;
}

using Ends = std::vector<std::uint64_t>;

TEST(Replay, ABlockingMessageTakesItsOverheadsAndTheLatency) {
  const Events sends{compute(1000), enter(), event(EventKind::send, 1, 1, 7), leave(), compute(500)};
  const Events receives{compute(10), enter(), event(EventKind::receive, 0, 1, 7), leave(), compute(20)};
  // send: 1000 + o 100, then 500. The message arrives at 1000 + 100 + 2000, o more, then 20.
  EXPECT_EQ(ends_of({sends, receives}, "L=2000,o=100,S=100"), (Ends{1600, 3220}));
}

TEST(Replay, AFasterProcessorComputesInLessTimeAndARegionHasASpeedOfItsOwn) {
  const Events sends{compute(1000, 0), compute(600, 1), enter(), event(EventKind::send, 1, 1, 7), leave()};
  const Events receives{enter(), event(EventKind::receive, 0, 1, 7), leave()};
  ReplayOptions options;
  options.speed = 2;
  EXPECT_EQ(ends_of({sends, receives}, "L=2000,o=100,S=100", "", options), (Ends{900, 3000}));
  options.region_speed = {0, 3};
  EXPECT_EQ(ends_of({sends, receives}, "L=2000,o=100,S=100", "", options), (Ends{800, 2900}));
}

TEST(Replay, BalancedRanksComputeAsLongAsTheMean) {
  // Rank 0 waits for the signal of rank 1: 3000 + o + L + o. Rank 1 has had its own: o for each of the two.
  const auto waits = [](std::int64_t ns) {
    return Events{compute(ns), enter(), collective(CollectiveKind::barrier, 0), leave(), compute(ns)};
  };
  ReplayOptions options;
  options.balanced = true;
  EXPECT_EQ(ends_of({waits(1000), waits(3000)}, "L=500,o=100,S=100", "dissemination"), (Ends{4700, 6200}));
  EXPECT_EQ(ends_of({waits(1000), waits(3000)}, "L=500,o=100,S=100", "dissemination", options), Ends(2, 4700));
}

TEST(Replay, WhatANonBlockingCallBeginsOverlapsWithComputing) {
  const Events sends{enter(), event(EventKind::start_send, 1, 1, 7, 1), leave(), compute(5000),
                     enter(), event(EventKind::end_send, -1, 0, 0, 1),  leave(), compute(10)};
  const Events receives{enter(), event(EventKind::start_receive, -1, 0, 0, 1), leave(), compute(1000),
                        enter(), event(EventKind::end_receive, 0, 1, 7, 1),    leave(), compute(10)};
  // The message is there at 2100, after the computing: o, then 10. The sender: o, 5000, 10.
  EXPECT_EQ(ends_of({sends, receives}, "L=2000,o=100,S=100"), (Ends{5110, 2210}));
}

TEST(Replay, AWaitForWhatEndedLongAgoStillFollowsTheComputingBeforeIt) {
  const Events sends{enter(), event(EventKind::start_send, 1, 1, 7, 1), leave(), compute(9000),
                     enter(), event(EventKind::end_send, -1, 0, 0, 1),  leave(), compute(1000)};
  const Events receives{enter(), event(EventKind::receive, 0, 1, 7), leave()};
  EXPECT_EQ(ends_of({sends, receives}, "L=1,o=100,S=100")[0], 10100u);
}

TEST(Replay, BothHalvesOfASendrecvGoOnAtOnce) {
  const auto exchanges = [](std::int32_t peer) {
    return Events{enter(), event(EventKind::send, peer, 1, 1), event(EventKind::receive, peer, 1, 1), leave(),
                  compute(5)};
  };
  // Each: o of its send, then o of the arrival at o + L. A rendezvous needs no other order, too.
  EXPECT_EQ(ends_of({exchanges(1), exchanges(0)}, "L=1000,o=100,S=100"), (Ends{1205, 1205}));
  EXPECT_EQ(ends_of({exchanges(1), exchanges(0)}, "L=1000,o=100,S=0"), (Ends{1205, 1205}));
}

TEST(Replay, AReceiveFromAnyRankTakesTheMessageThatItTookInTheRecording) {
  // Rank 1's message is there first, but rank 2's was received first.
  const Events receives{enter(), event(EventKind::receive, 2, 1, 3), leave(),
                        enter(), event(EventKind::receive, 1, 1, 3), leave()};
  const Events early{enter(), event(EventKind::send, 0, 1, 3), leave()};
  const Events late{compute(5000), enter(), event(EventKind::send, 0, 1, 3), leave()};
  EXPECT_EQ(ends_of({receives, early, late}, "L=1000,o=100,S=100")[0], 6200u);
}

// Rank 0 sends on a duplicate of the world and then, once rank 1 has it, on the world; rank 1 has begun to receive in
// the other order. By tags alone the first message would meet the second receive, and both ranks would wait for ever.
TEST(Replay, MessagesMeetOnTheirCommunicatorAlone) {
  Recording recording = recording_of(std::vector<Events>(2));
  const std::uint32_t dup = recording.add_communicator({0, 1});
  recording.set(0, {enter(), on(dup, event(EventKind::send, 1, 1000)), leave(), enter(),
                    event(EventKind::receive, 1, 8, 5), leave(), enter(), event(EventKind::send, 1, 8), leave()});
  recording.set(1, {enter(), event(EventKind::start_receive, -1, 0, 0, 1), leave(), enter(),
                    event(EventKind::start_receive, -1, 0, 0, 2), leave(), enter(),
                    on(dup, event(EventKind::end_receive, 0, 1000, 0, 2)), leave(), enter(),
                    event(EventKind::send, 0, 8, 5), leave(), enter(), event(EventKind::end_receive, 0, 8, 0, 1),
                    leave()});
  ASSERT_TRUE(recording.complete());
  const auto program = program_of(recording, {});
  ASSERT_TRUE(program);
  const auto outcome = loggp::run(program->graphs, parameters("L=1000,o=100,S=100000"));
  ASSERT_TRUE(outcome) << outcome.error().problem;
  // Three messages one after the other: o + L + o each.
  EXPECT_EQ(outcome->end, (std::vector<loggp::Time>{2500000, 3600000}));
}

// Tags of what rank 0 sends.
std::set<std::uint32_t> tags_of(const ReplayProgram& program) {
  std::set<std::uint32_t> tags;
  for (const goal::GraphOperation& operation : program.graphs.of(0).operations)
    if (operation.kind == goal::Kind::send) tags.insert(operation.tag);
  return tags;
}

TEST(Replay, CollectivesUnderWayOnTwoCommunicatorsShareNoTag) {
  std::set<std::uint32_t> tags[2];
  for (const bool dup_only : {false, true}) {
    Recording recording = recording_of(std::vector<Events>(2));
    recording.add_communicator({1, 0});
    Events each;
    for (std::uint32_t n = 0; n < 200; ++n)
      each.insert(each.end(), {enter(), on(dup_only, collective(CollectiveKind::allreduce, 8)), leave()});
    for (const std::int32_t rank : {0, 1}) recording.set(rank, each);
    ASSERT_TRUE(recording.complete());
    const auto program = program_of(recording, chosen(recording, "recursive_doubling"));
    ASSERT_TRUE(program);
    tags[dup_only] = tags_of(*program);
    EXPECT_GE(tags[dup_only].size(), 60u); // so many may be under way at once
  }
  for (const std::uint32_t tag : tags[0]) EXPECT_EQ(tags[1].count(tag), 0u) << tag;
}

TEST(Replay, RanksOfCommunicatorsLikeEachOtherShareAGraph) {
  Recording recording = recording_of(std::vector<Events>(4));
  const std::uint32_t rows[] = {recording.add_communicator({0, 1}), recording.add_communicator({2, 3})};
  for (const std::int32_t rank : {0, 1, 2, 3}) {
    const Event message = event(rank % 2 == 0 ? EventKind::send : EventKind::receive, rank ^ 1, 8, 3);
    recording.set(rank, {enter(), on(rows[rank / 2], message),
                         on(rows[rank / 2], collective(CollectiveKind::barrier, 0)), leave()});
  }
  ASSERT_TRUE(recording.complete());
  const auto program = program_of(recording, chosen(recording, "dissemination"));
  ASSERT_TRUE(program);
  EXPECT_EQ(program->graphs.different(), 2u);
}

TEST(Replay, ACollectiveIsTheAlgorithmThatIsChosen) {
  const auto reduces = [](std::int64_t ns) {
    return Events{compute(ns), enter(1), collective(CollectiveKind::allreduce, 8), leave()};
  };
  const std::vector<Events> ranks{reduces(0), reduces(0), reduces(0), reduces(0)};
  // Recursive doubling: two rounds of send and receive, o + L + o each. A binomial tree and back: four.
  EXPECT_EQ(ends_of(ranks, "L=1000,o=100,S=100", "recursive_doubling"), Ends(4, 2400));
  EXPECT_EQ(ends_of(ranks, "L=1000,o=100,S=100", "binomial")[3], 4800u);
}

TEST(Replay, ACollectiveWithoutAnAlgorithmSendsNothing) {
  Recording recording =
      recording_of(std::vector<Events>(2, {compute(30), enter(1), collective(CollectiveKind::allreduce, 8), leave(),
                                           compute(50), enter(2), collective(CollectiveKind::allreduce, 16), leave()}));
  ASSERT_TRUE(recording.complete());
  std::vector<Choice> choices = chosen(recording, "recursive_doubling");
  choices[0] = {nullptr, {}, 7e-9};
  const auto program = program_of(recording, choices);
  ASSERT_TRUE(program) << program.error().problem;
  const auto outcome = loggp::run(program->graphs, parameters("L=1000,o=100,S=100"));
  ASSERT_TRUE(outcome);
  // Computing, what the first call takes beyond its messages, and one round of the second: o + L + o.
  EXPECT_EQ(outcome->end, std::vector<loggp::Time>(2, (30 + 7 + 50 + 1200) * 1000));
}

TEST(Replay, ANonBlockingCollectiveOverlapsWithComputing) {
  const Events each{
      enter(), collective(CollectiveKind::allreduce, 0, -1, EventKind::start_collective, 4), leave(), compute(9000),
      enter(), collective(CollectiveKind::allreduce, 8, -1, EventKind::end_collective, 4),   leave()};
  const Ends ends = ends_of({each, each}, "L=1000,o=100,S=100", "recursive_doubling");
  EXPECT_EQ(ends, Ends(2, 9200)); // the overheads of both halves are the processor's; the latency is hidden
}

TEST(Replay, CollectivesOfACommunicatorGoToItsMembers) {
  Recording recording = recording_of(std::vector<Events>(4));
  const std::uint32_t odd = recording.add_communicator({3, 1});
  const Event bcast = on(odd, collective(CollectiveKind::bcast, 8, 0));
  recording.set(3, {compute(700), enter(), bcast, leave()});
  recording.set(1, {enter(), bcast, leave()});
  ASSERT_TRUE(recording.complete());
  const auto program = program_of(recording, chosen(recording, "binomial"));
  ASSERT_TRUE(program);
  const auto outcome = loggp::run(program->graphs, parameters("L=1000,o=100,S=100"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->end, (std::vector<loggp::Time>{0, 1900000, 0, 800000}));
}

TEST(Replay, BlocksOfDifferentLengthsMakeTheIrregularForm) {
  Recording recording(2);
  const std::uint32_t to_first = recording.add_parts({3, 5}), to_second = recording.add_parts({7, 0});
  Event mine = collective(CollectiveKind::alltoall, 8), yours = collective(CollectiveKind::alltoall, 7);
  mine.collective().parts = to_first, yours.collective().parts = to_second;
  recording.set(0, {enter(), mine, leave(), enter(), collective(CollectiveKind::allgather, 4), leave(), enter(),
                    collective(CollectiveKind::scatter, 30, 0), leave()});
  recording.set(1, {enter(), yours, leave(), enter(), collective(CollectiveKind::allgather, 6), leave(), enter(),
                    collective(CollectiveKind::scatter, 10, 0), leave()});
  ASSERT_TRUE(recording.complete());
  ASSERT_EQ(recording.calls().size(), 3u);
  EXPECT_EQ(recording.calls()[0].table, (std::vector<std::int64_t>{3, 5, 7, 0}));
  EXPECT_EQ(recording.calls()[1].table, (std::vector<std::int64_t>{4, 6}));
  EXPECT_EQ(recording.calls()[2].table, (std::vector<std::int64_t>{20, 10}));
}

TEST(Replay, RanksThatDoTheSameShareAGraph) {
  const auto ring = [](std::int32_t rank) {
    return Events{compute(100), enter(), event(EventKind::send, (rank + 1) % 4, 1, 1),
                  event(EventKind::receive, (rank + 3) % 4, 1, 1), leave()};
  };
  Recording recording = recording_of({ring(0), ring(1), ring(2), ring(3)});
  ASSERT_TRUE(recording.complete());
  const auto program = program_of(recording, {});
  ASSERT_TRUE(program);
  EXPECT_EQ(program->graphs.different(), 1u);
}

TEST(Replay, MarksNameTheCallBeforeEachCalc) {
  Recording recording = recording_of({{enter(3), leave(), enter(4), leave(), compute(5, 2)}});
  ASSERT_TRUE(recording.complete());
  const auto program = program_of(recording, {});
  ASSERT_TRUE(program);
  const auto& marks = program->marks(0);
  ASSERT_EQ(marks.size(), 3u); // at the beginning, between the calls, and the computing
  EXPECT_EQ(marks[0].site, Mark::no_site);
  EXPECT_EQ(marks[1].site, 3u);
  EXPECT_EQ(marks[2].site, 4u);
  EXPECT_EQ(marks[2].region, 2u);
}

TEST(ReplayTimes, TimeBetweenCalcsIsThatOfTheCall) {
  // Rank 0: 1000 computing in region 1, a send of o = 100. Rank 1 waits in its receive until 1000 + o + L + o.
  const Events sends{compute(1000, 1), enter(2), event(EventKind::send, 1, 1, 7), leave(), compute(50, 0)};
  const Events receives{compute(200, 0), enter(3), event(EventKind::receive, 0, 1, 7), leave()};
  Recording recording = recording_of({sends, receives});
  ASSERT_TRUE(recording.complete());
  const auto program = program_of(recording, {});
  ASSERT_TRUE(program);
  TimesOptions options;
  options.most_intervals = 10;
  const auto times = times_of(*program, parameters("L=2000,o=100,S=100"), options);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->total, 3200000u);
  EXPECT_EQ(times->last_rank, 1);
  EXPECT_EQ(times->computing, (std::vector<Time>{1050000, 200000}));
  ASSERT_EQ(times->sites.size(), 4u);
  EXPECT_EQ(times->sites[2].time, 100000u);
  EXPECT_EQ(times->sites[3].time, 3000000u);
  EXPECT_EQ(times->sites[3].longest_rank, 1);
  EXPECT_EQ(times->sites[3].count, 1);
  EXPECT_EQ(times->regions[1].time, 1000000u);
  std::vector<std::tuple<int, bool, Time, Time>> intervals;
  for (const PlaceInterval& i : times->intervals)
    intervals.emplace_back(i.rank, i.is_call, i.start / 1000, i.end / 1000);
  std::sort(intervals.begin(), intervals.end());
  EXPECT_EQ(intervals, (std::vector<std::tuple<int, bool, Time, Time>>{{0, false, 0, 1000},
                                                                       {0, false, 1100, 1150},
                                                                       {0, true, 1000, 1100},
                                                                       {1, false, 0, 200},
                                                                       {1, true, 200, 3200}}));
  options.every = 2;
  EXPECT_EQ(times_of(*program, parameters("L=2000,o=100,S=100"), options)->intervals.size(), 3u);
  options.least_interval = 60000; // the last computing of rank 0 belongs to its send
  const auto coarse = times_of(*program, parameters("L=2000,o=100,S=100"), options)->intervals;
  ASSERT_EQ(coarse.size(), 2u);
  EXPECT_EQ(coarse[1].end, 1150000u);
  options = {};
  options.most_intervals = 2;
  EXPECT_TRUE(times_of(*program, parameters("L=2000,o=100,S=100"), options)->intervals.empty());
}

TEST(ReplayTimes, OnAnIdealNetworkRanksWaitForEachOtherOnly) {
  const Events late{compute(1000), enter(0), collective(CollectiveKind::barrier, 0), leave()};
  const Events early{compute(400), enter(0), collective(CollectiveKind::barrier, 0), leave()};
  Recording recording = recording_of({late, early, early, early});
  ASSERT_TRUE(recording.complete());
  const auto program = program_of(recording, chosen(recording, "dissemination"));
  ASSERT_TRUE(program);
  const auto times = times_of(*program, ideal_network());
  ASSERT_TRUE(times);
  EXPECT_EQ(times->total, 1000000u);
  EXPECT_EQ(times->sites[0].time, 3 * 600000u); // none of the late rank
  EXPECT_EQ(times->sites[0].ranks, 4);
}

TEST(Replay, ErrorsNameTheRankAndItsEvent) {
  const Events sends{enter(2), event(EventKind::send, 1, 8, 7), leave()};
  EXPECT_EQ(problem_of({sends, {}}),
            "rank 0, event 1 of site 2: a send of 8 bytes to rank 1 with tag 7 has no matching "
            "receive; in all 1 messages have one end alone");
  EXPECT_EQ(problem_of({{enter(2), event(EventKind::receive, 1, 8, 7), leave()}, {}}),
            "rank 0, event 1 of site 2: a receive of 8 bytes from rank 1 with tag 7 has no matching send; in all 1 "
            "messages have one end alone");
  EXPECT_EQ(problem_of({{enter(2), event(EventKind::send, 1, 8, 7)}, {}}),
            "rank 0, event 1 of site 2: the last call must end");
  EXPECT_EQ(problem_of({{enter(2), event(EventKind::send, 5, 8, 7), leave()}, {}}),
            "rank 0, event 1 of site 2: a peer must be a rank from 0 to 1 (got 5)");
  EXPECT_EQ(problem_of({{enter(2), event(EventKind::end_send, -1, 0, 0, 9), leave()}}),
            "rank 0, event 1 of site 2: request 9 ends, which began as no such request");
  Recording apart = recording_of({{}, {}});
  const std::uint32_t dup = apart.add_communicator({0, 1}), alone = apart.add_communicator({0});
  apart.set(0, {enter(2), event(EventKind::send, 1, 8, 7), leave()});
  apart.set(1, {enter(3), on(dup, event(EventKind::receive, 0, 8, 7)), leave()});
  EXPECT_EQ(
      apart.complete().error().problem,
      "rank 0, event 1 of site 2: a send of 8 bytes to rank 1 with tag 7 has no matching receive; in all 2 messages "
      "have one end alone");
  apart.set(0, {enter(2), on(alone, event(EventKind::send, 1, 8, 7)), leave()});
  EXPECT_EQ(apart.complete().error().problem,
            "rank 0, event 1 of site 2: a peer must be a member of the communicator of its message (got 1)");
  apart.set(0, {enter(2), on(9, event(EventKind::send, 1, 8, 7)), leave()});
  EXPECT_EQ(apart.complete().error().problem, "rank 0, event 1 of site 2: a communicator must be a known one (got 9)");
  const Events reduces{enter(2), collective(CollectiveKind::allreduce, 8), leave()};
  const Events waits{enter(3), collective(CollectiveKind::barrier, 0), leave()};
  EXPECT_EQ(problem_of({reduces, waits}),
            "rank 1, event 1 of site 3: the ranks of communicator 0 disagree: rank 1 calls "
            "barrier where rank 0 calls allreduce");
  EXPECT_EQ(problem_of({reduces, {}}), "rank 0, event 1 of site 2: rank 1 lacks the allreduce that is number 0 of "
                                       "communicator 0: its trace ends before");
}

// Whatever differs between the two ends of one message of many, it is found.
TEST(Replay, AMessageWithOneEndIsFoundAmongMany) {
  std::mt19937 chance(11);
  for (int n = 0; n < 60; ++n) {
    const auto ranks = static_cast<std::int32_t>(2 + chance() % 6);
    std::vector<Events> events(static_cast<std::size_t>(ranks));
    for (int message = 0; message < 50; ++message) {
      const auto from = static_cast<std::int32_t>(chance()) & 0x7FFFFFFF, to = from / 8;
      const auto tag = static_cast<std::int32_t>(chance() % 4);
      const auto call = [&](std::int32_t rank, const Event& e) {
        Events& of = events[static_cast<std::size_t>(rank)];
        of.insert(of.end(), {enter(), e, leave()});
      };
      call(from % ranks, event(EventKind::send, to % ranks, 8, tag));
      call(to % ranks, event(EventKind::receive, from % ranks, 8, tag));
    }
    EXPECT_EQ(problem_of(events), "");
    Events& changed = events[chance() % events.size()];
    if (changed.empty()) continue;
    trace::MessageEvent& m = changed[1 + 3 * (chance() % (changed.size() / 3))].message();
    if (n % 2 == 0)
      ++m.tag;
    else
      m.peer = (m.peer + 1) % ranks;
    EXPECT_NE(problem_of(events).find("in all 2 messages have one end alone"), std::string::npos);
  }
}

TEST(Replay, CommunicatorsAndSizesThatCannotBeAreRefused) {
  const auto with_members = [](std::vector<std::int32_t> members) {
    Recording recording = recording_of({{}, {}});
    recording.add_communicator(std::move(members));
    return recording.complete().error();
  };
  EXPECT_EQ(with_members({}).problem, "communicator 1: it must have members (got 0)");
  EXPECT_EQ(with_members({0, -1}).problem, "communicator 1: a member must be a rank from 0 to 1 (got -1)");
  EXPECT_EQ(with_members({2}).problem, "communicator 1: a member must be a rank from 0 to 1 (got 2)");
  EXPECT_EQ(with_members({1, 1}).problem, "communicator 1: each member must be another rank (got 1)");
  EXPECT_EQ(with_members({}).kind, Error::Kind::bad_input);
  const std::int64_t most = goal::most_message_bytes;
  EXPECT_EQ(problem_of({{enter(2), event(EventKind::send, 1, most + 1, 7), leave()}, {}}),
            "rank 0, event 1 of site 2: a time or size must be from 0 to 70368744177664 (got 70368744177665)");
  EXPECT_EQ(problem_of({{enter(0xFFFFFFFFU), leave()}}),
            "rank 0, event 0 of site 4294967295: a place must be below 16777216 (got 4294967295)");
  Recording parts = recording_of({{}});
  parts.add_parts({-1});
  EXPECT_EQ(parts.complete().error().problem, "a part must be from 0 to 70368744177664 bytes (got -1)");
}

TEST(Replay, ATooLargeProgramIsRefusedWhereItBecomesSo) {
  ReplayOptions options;
  options.most = 100;
  const auto problem = [&](const Events& each) {
    Recording recording = recording_of({each, each, each, each});
    EXPECT_TRUE(recording.complete());
    const auto program = program_of(recording, chosen(recording, "recursive_doubling"), options);
    return program ? "" : program.error().problem;
  };
  EXPECT_EQ(problem(Events(100, compute(7))), "");
  EXPECT_EQ(problem(Events(5000, compute(7))),
            "the program must be at most 100 operations (got more at event 100 of rank 0)");
  Events reduces;
  for (int n = 0; n < 1000; ++n)
    reduces.insert(reduces.end(), {enter(), collective(CollectiveKind::allreduce, 8), leave()});
  // A calc, and two sends, two receives and a join between the rounds: 6 for each, so that 102 have 17 in them.
  EXPECT_EQ(problem(reduces),
            "the program must be at most 100 operations (got more with allreduce of 8 bytes on 4 ranks "
            "number 16 of communicator 0 of rank 0)");
}

TEST(Replay, AnAlgorithmThatDoesNotFitIsNamedWithItsCollective) {
  const Events each{enter(), collective(CollectiveKind::allgather, 8), leave()};
  Recording recording = recording_of({each, each, each});
  ASSERT_TRUE(recording.complete());
  const auto program = program_of(recording, chosen(recording, "neighbour_exchange"));
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().problem.find("allgather of 8 bytes a block on 3 ranks"), std::string::npos)
      << program.error().problem;
}

} // namespace
} // namespace kumihimo::replay
