// Operations of programs that are made as ranks come to them, against the graphs of the same programs in whole.
#include "collectives/registry.hpp"
#include "goal/program_segments.hpp"
#include "goal/programs.hpp"
#include "program/builder.hpp"
#include "program/named_programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace kumihimo::goal {
namespace {

using Told = std::tuple<Kind, std::uint64_t, std::int32_t, std::uint32_t>; // of an operation: size, peer, tag

Told told(const GraphOperation& of) { return {of.kind, of.size, of.peer, of.tag}; }

WorkRates in_bytes() {
  WorkRates rates;
  rates.in_bytes = true;
  return rates;
}

// All operations of a rank, which end in any order in which they may.
std::vector<Told> taken(const ProgramSet& set, std::int32_t rank, std::uint32_t seed = 1) {
  ProgramSegments segments(set, in_bytes());
  EXPECT_TRUE(segments.status().ok());
  std::mt19937 random(seed);
  std::vector<std::uint32_t> ready;
  std::vector<Told> all;
  Time now = 0;
  const auto may_start = [&](std::uint32_t operation, Time) { ready.push_back(operation); };
  segments.begin(rank, may_start);
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const std::uint32_t i = ready.back();
    ready.pop_back();
    const GraphOperation operation = segments.of(rank, i);
    if (operation.kind != Kind::join) all.push_back(told(operation));
    segments.ended(rank, i, ++now, may_start);
    segments.done(rank, i);
    if (operation.kind == Kind::send) segments.done(rank, i); // it has met its receive
  }
  EXPECT_TRUE(segments.status().ok());
  for (std::size_t lane = 0; lane < segments.program(rank).lanes.size(); ++lane)
    EXPECT_EQ(segments.end(rank, lane) > 0, !all.empty()) << lane;
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<Told> in_whole(const ProgramSet& set, std::int32_t rank) {
  const auto graphs = graphs_of(set, in_bytes());
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  std::vector<Told> all;
  for (const GraphOperation& each : graphs->of(rank).operations)
    if (each.kind != Kind::join) all.push_back(told(each));
  std::sort(all.begin(), all.end());
  return all;
}

// Segments of a few elements differ in their lengths, and some messages are empty.
TEST(ProgramSegments, HaveTheOperationsOfWholeGraphs) {
  using K = CollectiveKind;
  struct Case {
    K kind;
    const char* name;
  };
  for (const Case& of : {Case{K::allreduce, "ring"}, Case{K::allreduce, "pairwise"}, Case{K::bcast, "chain"},
                         Case{K::reduce, "binary"}, Case{K::scatter, "linear"}, Case{K::barrier, "dissemination"}})
    for (const std::int64_t elements : {1, 7, 50, 1000})
      for (const std::int64_t count : {1, 6, 20}) {
        const Variant& variant = **Registry::standard().find(of.kind, of.name);
        Parameters parameters;
        if (of.kind != K::barrier && count > 1) parameters.segments = count, parameters.window = 4;
        const auto schedule = variant.build(make_collective(of.kind, 6, of.kind == K::barrier ? 0 : elements),
                                            RankSpace::row(6), parameters);
        if (!schedule) continue; // it has no segments
        for (const std::int32_t rank : {0, 5})
          EXPECT_EQ(taken(*schedule, rank), in_whole(*schedule, rank)) << of.name << " " << elements << " " << count;
      }
}

// Of two messages of a segment either may be empty, while other segments are under way.
TEST(ProgramSegments, MessagesOfALaneAreEmptyInDifferentSegments) {
  for (const std::int64_t elements : {11, 25, 37, 50}) {
    ProgramSet set;
    set.data = one_buffer(2, elements);
    set.segments = {20};
    set.program = [](Rank) {
      Lane lane;
      lane.id = LaneId{0}, lane.window = 4;
      for (const std::int64_t i : {0, 1}) lane.body.push_back(Round{{send(1, in[part(i, 2)])}, 0});
      return Program{{lane}, {}};
    };
    for (std::uint32_t seed = 1; seed <= 20; ++seed) EXPECT_EQ(taken(set, 0, seed), in_whole(set, 0)) << elements;
  }
}

// Rounds of computation, of which each is an operation.
ProgramSet computing(std::int64_t rounds) {
  ProgramSet set;
  set.data = one_buffer(1, 1);
  Lane lane;
  lane.id = LaneId{0};
  const Round round{{compute(kumihimo::Work{1e-6, 0, 0})}, 0};
  set.program = [=](Rank) {
    Program program;
    Lane with = lane;
    with.body.assign(static_cast<std::size_t>(rounds), round);
    program.lanes.push_back(with);
    return program;
  };
  RoundReader reader;
  reader.outline = [=](Rank) { return Program{{lane}, {}}; };
  reader.steps = [=](Rank) { return rounds; };
  reader.piece = [=](Rank, LaneId, std::int64_t position, std::int64_t steps) {
    const std::int64_t some = std::min(steps, rounds - position);
    RoundPiece piece{std::vector<Round>(static_cast<std::size_t>(some), round), std::nullopt};
    if (position + some < rounds) piece.next = position + some;
    return piece;
  };
  set.reader = reader;
  return set;
}

TEST(ProgramSegments, LongProgramsAreReadSomeRoundsAtATime) {
  for (const std::int64_t rounds : {1, 1024, 1025, 5000}) EXPECT_EQ(std::ssize(taken(computing(rounds), 0)), rounds);
}

TEST(ProgramSegments, MoreOperationsUnderWayThanAllowedAreRefused) {
  WorkRates few = in_bytes();
  few.most = 2000;
  const Variant& variant = **Registry::standard().find(CollectiveKind::alltoall, "linear");
  const auto schedule = variant.build(make_collective(CollectiveKind::alltoall, 40, 10), RankSpace::row(40), {});
  ProgramSegments segments(*schedule, few);
  for (std::int32_t rank = 0; rank < 40; ++rank) segments.begin(rank, [](std::uint32_t, Time) {});
  ASSERT_FALSE(segments.status().ok());
  EXPECT_NE(segments.status().error().sentence().find("at most 2000 operations under way"), std::string::npos)
      << segments.status().error().sentence();
}

TEST(ProgramSegments, MoreRoundsThanAllowedAreRefusedAtTheStart) {
  WorkRates few = in_bytes();
  const Variant& variant = **Registry::standard().find(CollectiveKind::allreduce, "ring");
  const auto schedule = variant.build(make_collective(CollectiveKind::allreduce, 40, 4000), RankSpace::row(40), {});
  few.most = 40 * 78 / 2;
  EXPECT_TRUE(ProgramSegments(*schedule, few).status().ok());
  few.most -= 1;
  const ProgramSegments segments(*schedule, few);
  ASSERT_FALSE(segments.status().ok());
  EXPECT_NE(segments.status().error().sentence().find("programs of all ranks must have at most 3118 rounds"),
            std::string::npos)
      << segments.status().error().sentence();
}

} // namespace
} // namespace kumihimo::goal
