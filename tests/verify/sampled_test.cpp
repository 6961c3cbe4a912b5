// Schedules that are not executed whole: what is followed instead finds, and what is not shown is said.
#include "sabotage/sabotage.hpp"
#include "support.hpp"

#include <limits>

namespace kumihimo::verify {
namespace {

TEST(Sampled, DeadlockIsShownOfLoopsAndSegmentsThatAreNotExecuted) {
  const RankSpace space = RankSpace::box(*Shape::parse("12x10x8"));
  VerifyOptions few = sampled();
  few.most_control_steps = 3 * 2 * 2 * 960; // one segment of trinaryx3, a few rounds of the ring
  for (const std::string_view name : {"ring", "bucket", "trinaryx3"}) {
    const Report report = check(registered(name, space, 1'000'003, 50), space, few);
    EXPECT_TRUE(report.ok()) << name << ": " << report.text();
    EXPECT_TRUE(report.coverage.deadlock_shown) << name << ": " << report.text();
    EXPECT_LE(report.coverage.deadlock_segments, 1);
  }
}

TEST(Sampled, DeadlockThatIsNotShownIsNotPassedOver) {
  const RankSpace space = RankSpace::box(*Shape::parse("12x10x8"));
  const Schedule ring = registered("ring", space, 1'000'003);
  const auto wrong = sabotage_named("sequential_exchange").apply(ring);
  ASSERT_TRUE(wrong);
  VerifyOptions few = sampled();
  few.most_control_steps = 10;
  const Report unknown = check(*wrong, space, few);
  EXPECT_FALSE(unknown.coverage.deadlock_shown);
  if (unknown.ok()) {
    EXPECT_NE(unknown.text().find("deadlock not excluded"), std::string::npos) << unknown.text();
  }
  EXPECT_EQ(first(check(*wrong, space, sampled())).check, Check::deadlock);
}

TEST(Sampled, SaysHowManySegmentsOfARankWereFollowed) {
  const RankSpace space = RankSpace::box(*Shape::parse("4x3"));
  const Report report = check(registered("trinaryx3", space, 1'000'003, 100), space, sampled());
  ASSERT_TRUE(report.ok()) << report.text();
  EXPECT_EQ(report.coverage.footprint_segments, 5); // a window of 4, and one more
  EXPECT_NE(report.text().find("all elements of the first 5 segments at 12 ranks"), std::string::npos) << report.text();
}

TEST(Sampled, OneSegmentIsNotCalledSegments) {
  Report report;
  report.coverage.footprint_segments = 1;
  report.coverage.footprints = 12;
  EXPECT_NE(report.text().find("all elements of the first segment at 12 ranks"), std::string::npos) << report.text();
}

// No single segment shows that the writer waits for its reader.
TEST(Sampled, OneSegmentStandsForAllOnlyWhereWaitsAreWithinSegments) {
  const Schedule s = reader_after_all_of_its_writer(1200, 40);
  EXPECT_EQ(first(check(s, sampled())).check, Check::deadlock);
}

// Each element meets others alone in the cell, never itself.
TEST(Sampled, IterationsInFlightThatShareACell) {
  const auto schedule = [](std::int64_t cells) {
    Schedule s = schedule_of(bcast(1, 1200), [](LaneBuilder&, std::int64_t) {});
    s.program = [cells](Rank) {
      ProgramBuilder program;
      const Array scratch = program.scratch(LaneId{0}, 1, 8, cells);
      LaneBuilder lane(LaneId{0}, "", 1);
      lane.loop(
          8,
          [&](Variable i) {
            return Round{{copy(scratch.at(mod(i, cells), part(i, 8)), in[part(i, 8)])}, 0};
          },
          2);
      lane.step(copy(out[whole()], in[whole()]));
      program.add(std::move(lane));
      return program.finish();
    };
    s.claims.in_place_safe = false;
    return s;
  };
  EXPECT_EQ(first(check(schedule(1), sampled())).check, Check::overlap);
  EXPECT_TRUE(check(schedule(2), sampled()).ok()) << check(schedule(2), sampled()).text();
}

// A ring of 3,000 ranks, each of which receives two halves at once; those of rank `wrong` share an element.
NamedPrograms ring_of_halves(std::int32_t wrong) {
  constexpr std::int32_t ranks = 3000;
  NamedPrograms programs;
  programs.set.data = one_buffer(ranks, 8);
  programs.set.program = [wrong](Rank rank) {
    ProgramBuilder program;
    LaneBuilder lane(LaneId{0}, "", 1);
    const std::int64_t before = (rank.value + ranks - 1) % ranks, behind = (rank.value + 1) % ranks;
    const std::int64_t second = rank.value == wrong ? 5 : 6;
    lane.round({receive(before, out[parts(4, 2, 8)]), receive(before, out[parts(second, 2, 8)]),
                send(behind, in[parts(0, 2, 8)]), send(behind, in[parts(2, 2, 8)])});
    program.add(std::move(lane));
    return program.finish();
  };
  return programs;
}

TEST(Sampled, MemoryOfAnyRankIsFollowedWhereFewKindsOfRanksAre) {
  VerifyOptions few = sampled();
  few.most_footprint_steps = 100; // of 25 ranks
  const Report right = check(verify::Subject(ring_of_halves(-1)), nullptr, few);
  EXPECT_TRUE(right.ok()) << right.text();
  EXPECT_EQ(right.coverage.footprints, 3000);
  for (const std::int32_t wrong : {0, 1, 1717, 2999})
    EXPECT_EQ(first(check(verify::Subject(ring_of_halves(wrong)), nullptr, few)).check, Check::overlap) << wrong;
}

TEST(Sampled, PairsBeyondTheBudgetAreMarkedAsASample) {
  const std::int32_t ranks = 40;
  VerifyOptions few;
  few.most_pairs = 10;
  const Report report = check(schedule_of(bcast(ranks),
                                          [=](LaneBuilder& lane, std::int64_t rank) {
                                            if (rank > 0) return lane.step(receive(0, out[whole()]));
                                            lane.loop(ranks - 1, [&](Variable i) {
                                              return Round{{send(mod(1 + Expression(i), ranks), in[whole()])}, 0};
                                            });
                                          }),
                              few);
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_TRUE(report.coverage.pairs_sampled);
  EXPECT_NE(report.text().find("a sample"), std::string::npos) << report.text();
}

TEST(Sampled, AWindowLargerThanAnyNumberOfSegments) {
  const RankSpace space = RankSpace::box(*Shape::parse("4x3x3"));
  Parameters p;
  p.segments = 7;
  p.window = 1 << 20; // the largest that parameters.def takes
  const auto row = Registry::standard().find(CollectiveKind::allreduce, "trinaryx3");
  const auto s = (*row)->build(allreduce(36, 1000), space, p);
  ASSERT_TRUE(s);
  for (const VerifyOptions& o : {VerifyOptions{}, sampled()})
    EXPECT_TRUE(check(*s, space, o).ok()) << check(*s, space, o).text();
}

TEST(Sampled, FindsWhatMatchingAndEverySampleShow) {
  const RankSpace space = RankSpace::box(*Shape::parse("12x10x8"));
  for (const std::string_view name : {"ring", "recursive_doubling", "binomial", "trinaryx3"}) {
    const Schedule s = registered(name, space, 1'000'003, 5);
    const Report right = check(s, space, sampled());
    EXPECT_TRUE(right.ok()) << name << ": " << right.text();
    EXPECT_FALSE(right.coverage.exact);
    EXPECT_GE(right.coverage.samples, 2);
    int tried = 0;
    for (const std::string_view found_by_matching : {"wrong_peer", "wrong_length", "lost_message", "extra_receive",
                                                     "last_segment", "doubled_contribution", "swapped_operands"}) {
      const auto wrong = sabotage_named(found_by_matching).apply(s);
      if (!wrong) continue;
      ++tried;
      EXPECT_FALSE(check(*wrong, space, sampled()).ok()) << name << " " << found_by_matching;
    }
    EXPECT_GE(tried, 5) << name;
  }
}

// The first rank that adds to what it receives on the lane puts what it receives in its place.
Schedule with_value_lost(const Schedule& right, std::int32_t lane) {
  const auto lose = [lane](Program& p) {
    for (Lane& l : p.lanes)
      for (Node& node : l.body)
        if (Round* round = std::get_if<Round>(&node); round && l.id.value == lane)
          for (Step& step : round->steps) {
            if (step.kind != StepKind::receive_reduce) continue;
            step.kind = StepKind::receive;
            step.source = {};
            return true;
          }
    return false;
  };
  std::int32_t rank = 0;
  for (Program p = right.program(Rank{0}); !lose(p);) p = right.program(Rank{++rank});
  Schedule wrong = right;
  wrong.program = [build = right.program, rank, lose](Rank r) {
    Program p = build(r);
    if (r.value == rank) lose(p);
    return p;
  };
  return wrong;
}

// An element meets the lanes of its own part alone.
TEST(Sampled, EveryLaneIsFollowed) {
  const RankSpace space = RankSpace::box(*Shape::parse("6x4x5"));
  for (const std::int64_t segments : {1, 40}) {
    const Schedule right = registered("trinaryx6", space, 1'000'003, segments);
    EXPECT_TRUE(check(right, space, sampled()).ok()) << check(right, space, sampled()).text();
    for (std::int32_t lane = 0; lane < 6; ++lane) {
      const Report report = check(with_value_lost(right, lane), space, sampled());
      EXPECT_EQ(first(report).check, Check::dataflow) << "lane " << lane << ", " << segments << " segments";
    }
  }
}

// Two parts in turn on one lane, at one rank the second one wrong.
TEST(Sampled, EveryPartOfALaneIsFollowed) {
  const RankSpace space = RankSpace::row(4);
  for (const std::int64_t wrong : {-1, 0, 1, 2, 3}) {
    Schedule s = schedule_of(allreduce(4, 1'000'003), [wrong](LaneBuilder& lane, std::int64_t rank) {
      for (std::int64_t i = 0; i < 4; ++i) {
        if (rank < 3) lane.step(receive_reduce(rank + 1, acc[part(i, 4)]));
        if (rank == 2 && i == wrong) lane.step(copy(out[part(i, 4)], in[part(i, 4)]));
        if (rank > 0) lane.step(send(rank - 1, acc[part(i, 4)]));
      }
      for (std::int64_t i = 0; i < 4; ++i) {
        if (rank > 0) lane.step(receive(rank - 1, out[part(i, 4)]));
        if (rank < 3) lane.step(send(rank + 1, out[part(i, 4)]));
      }
    });
    s.claims.in_place_safe = false;
    VerifyOptions o = sampled();
    o.samples = 0;
    EXPECT_EQ(check(s, space, o).ok(), wrong < 0) << wrong << ": " << check(s, space, o).text();
  }
}

TEST(Sampled, AgreesWithTheWholeOnEveryAlgorithm) {
  const RankSpace space = RankSpace::box(*Shape::parse("5x4"));
  int tried = 0;
  for (const Variant& v : Registry::standard().variants()) {
    const auto s = v.build(make_collective(v.kind, 20, v.kind->is_vector() ? 997 : 7), space, {});
    if (!s) continue;
    ++tried;
    const Report report = check(*s, space, sampled());
    EXPECT_TRUE(report.ok()) << v.name << ": " << report.text();
    // Where the data of blocks go is followed only where all is executed.
    EXPECT_TRUE(report.coverage.executed > 0 || !v.kind->is_vector()) << v.name;
  }
  EXPECT_GE(tried, 20);
}

} // namespace
} // namespace kumihimo::verify
