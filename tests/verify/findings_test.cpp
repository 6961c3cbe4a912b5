// What each check finds, on schedules written for it.
#include "collectives/registry.hpp"
#include "schedule/builder.hpp"
#include "verify/claims.hpp"
#include "verify/sabotage.hpp"
#include "verify/verify.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kumihimo::verify {
namespace {

Options sampled() {
  Options o;
  o.most_exact_steps = 0;
  return o;
}

Schedule schedule_of(const Collective& c, std::function<void(LaneBuilder&, std::int64_t)> body, Segments segments = {1},
                     std::int64_t window = 1) {
  Schedule s;
  s.collective = c;
  s.segments = segments;
  s.program = [=](Rank r) {
    ProgramBuilder program(segments);
    LaneBuilder lane(LaneId{0}, "", window);
    body(lane, r.value);
    program.add(std::move(lane));
    return program.finish();
  };
  return s;
}

Collective bcast(std::int32_t ranks, std::int64_t count = 12) {
  return make_collective(CollectiveKind::bcast, ranks, count);
}
Collective allreduce(std::int32_t ranks, std::int64_t count = 12, bool in_place = false) {
  return make_collective(CollectiveKind::allreduce, ranks, count, DataType::float64, Operation::sum, Rank{0}, in_place);
}

Schedule registered(std::string_view name, const RankSpace& space, std::int64_t count, std::int64_t segments = 1) {
  Parameters p;
  p.segments = segments;
  const auto row = Registry::standard().find(CollectiveKind::allreduce, name);
  auto s = (*row)->build(allreduce(space.ranks(), count), space, p);
  if (!s) s = (*row)->build(allreduce(space.ranks(), count), space, {});
  return *s;
}

const Finding& first(const Report& report) {
  static const Finding none;
  EXPECT_FALSE(report.ok());
  return report.ok() ? none : report.findings.front();
}

// --- structure

TEST(Structure, PeerOutOfRange) {
  const Report r = check(schedule_of(bcast(2), [](LaneBuilder& lane, std::int64_t rank) {
    if (rank == 0) lane.step(send(2, in[whole()]));
  }));
  EXPECT_EQ(first(r).check, Check::structure);
  EXPECT_EQ(first(r).place.rank, 0);
  EXPECT_EQ(first(r).place.step, 0);
}

TEST(Structure, PartOutOfRangeNamesTheIteration) {
  const Report r = check(schedule_of(bcast(2), [](LaneBuilder& lane, std::int64_t rank) {
    lane.loop(4, [&](Variable i) {
      return Round{{rank == 0 ? send(1, in[part(i, 3)]) : receive(0, out[part(i, 3)])}, 0};
    });
  }));
  EXPECT_EQ(first(r).check, Check::structure);
  EXPECT_EQ(first(r).place.loops, std::vector<std::int64_t>{3});
}

TEST(Structure, OperandsOfUnequalLength) {
  const Report r = check(
      schedule_of(bcast(1), [](LaneBuilder& lane, std::int64_t) { lane.step(copy(out[part(0, 2)], in[part(0, 3)])); }));
  EXPECT_EQ(first(r).check, Check::structure);
}

TEST(Structure, LanesAfterEachOther) {
  Schedule s = schedule_of(bcast(1), [](LaneBuilder&, std::int64_t) {});
  s.program = [](Rank) {
    Program p;
    p.lanes.push_back(Lane{LaneId{0}, 1, {After{{LaneId{1}}, Scope::segment}}, "", {}});
    p.lanes.push_back(Lane{LaneId{1}, 1, {After{{LaneId{0}}, Scope::segment}}, "", {}});
    return p;
  };
  EXPECT_EQ(first(check(s)).check, Check::structure);
}

TEST(Structure, MoreDataThanACellHolds) {
  Schedule s = schedule_of(bcast(1), [](LaneBuilder&, std::int64_t) {});
  s.program = [](Rank) {
    ProgramBuilder program;
    const Array half = program.scratch(LaneId{0}, 1, 2);
    LaneBuilder lane(LaneId{0}, "", 1);
    lane.step(copy(half[whole()], in[whole()]));
    program.add(std::move(lane));
    return program.finish();
  };
  EXPECT_EQ(first(check(s)).check, Check::structure);
}

// A reduce's result is the root's alone; elsewhere there is no output to write.
TEST(Structure, AStrayWriteWhereNobodysResultIs) {
  const auto schedule = [](bool stray) {
    const Collective c = make_collective(CollectiveKind::reduce, 3, 12, DataType::float64, Operation::sum, Rank{0});
    return schedule_of(c, [stray](LaneBuilder& lane, std::int64_t rank) {
      if (rank == 0) return lane.step(receive_reduce(1, in[whole()], out[whole()]));
      if (rank == 1) return lane.step(send(0, in[whole()]));
      if (stray) lane.step(copy(out[whole()], in[whole()]));
    });
  };
  const Report wrong = check(schedule(true));
  EXPECT_EQ(first(wrong).check, Check::structure);
  EXPECT_EQ(first(wrong).place.rank, 2);
  EXPECT_EQ(first(wrong).place.step, 0);
  EXPECT_EQ(first(check(schedule(false))).check, Check::dataflow) << "without it only rank 2's share is missing";
}

TEST(Structure, AVariableOfNoEnclosingLoop) {
  for (const std::int32_t depth : {2, 40}) {
    const Report r = check(schedule_of(bcast(2), [depth](LaneBuilder& lane, std::int64_t rank) {
      lane.loop(2, [&](Variable) {
        const Extent e = part(mod(Variable{depth}, 2), 2);
        return Round{{rank == 0 ? send(1, in[e]) : receive(0, out[e])}, 0};
      });
    }));
    EXPECT_EQ(first(r).check, Check::structure);
    EXPECT_NE(first(r).what.find("no enclosing loop"), std::string::npos) << r.text();
    EXPECT_EQ(first(r).place.step, 0);
  }
}

// A table's values are all right; one iteration reads past its end.
TEST(Structure, PastTheEndOfATable) {
  const auto table = std::make_shared<const Table>(Table{1, 1, 1});
  const auto schedule = [&](std::int64_t trip) {
    return schedule_of(bcast(2), [=](LaneBuilder& lane, std::int64_t rank) {
      lane.loop(trip, [&](Variable i) {
        const Expression peer = Expression::look_up(table, i) - rank;
        return Round{{rank == 0 ? send(peer, in[part(i, 5)]) : receive(peer, out[part(i, 5)])}, 0};
      });
      if (rank == 0) return lane.step(send(1, in[parts(trip, 5 - trip, 5)]));
      lane.step(receive(0, out[parts(trip, 5 - trip, 5)]));
    });
  };
  EXPECT_TRUE(check(schedule(3)).ok()) << check(schedule(3)).text();
  const Report r = check(schedule(4));
  EXPECT_EQ(first(r).check, Check::structure);
  EXPECT_NE(first(r).what.find("table of 3"), std::string::npos) << r.text();
  EXPECT_EQ(first(r).place.loops, std::vector<std::int64_t>{3});
}

// --- matching

TEST(Matching, AnIterationWrittenApartMatchesTheLoop) {
  const Report r = check(schedule_of(bcast(2, 97), [](LaneBuilder& lane, std::int64_t rank) {
    if (rank == 0) {
      lane.loop(5, [&](Variable i) { return Round{{send(1, in[part(i, 5)])}, 0}; });
      return;
    }
    lane.step(receive(0, out[part(0, 5)]));
    lane.loop(2, [&](Variable i) { return Round{{receive(0, out[part(i + 1, 5)])}, 0}; });
    lane.loop(2, [&](Variable i) { return Round{{receive(0, out[part(i + 3, 5)])}, 0}; });
  }));
  EXPECT_TRUE(r.ok()) << r.text();
}

TEST(Matching, PartsOfOtherNamesAndTheSameLengthMatch) {
  const Report r = check(schedule_of(bcast(2, 97), [](LaneBuilder& lane, std::int64_t rank) {
    lane.step(rank == 0 ? send(1, in[parts(2, 2, 4)]) : receive(0, out[part(1, 2)]));
    lane.step(rank == 0 ? send(1, in[part(0, 2)]) : receive(0, out[parts(0, 3, 6)]));
  }));
  EXPECT_TRUE(r.ok()) << r.text();
}

TEST(Matching, ALongLoopWithOneWrongIterationNamesIt) {
  const std::int64_t trip = 50'000, wrong = 31'415;
  Table table(trip, 0);
  table[wrong] = 1;
  const auto shared = std::make_shared<const Table>(table);
  const Report r = check(schedule_of(bcast(2, 10 * trip + 3), [&, shared](LaneBuilder& lane, std::int64_t rank) {
    lane.loop(trip, [&](Variable i) {
      if (rank == 0) return Round{{send(1, in[part(i, trip + 1)])}, 0};
      return Round{{receive(0, out[parts(i, 1 + Expression::look_up(shared, i), trip + 1)])}, 0};
    });
  }));
  EXPECT_EQ(first(r).check, Check::matching);
}

TEST(Matching, RanksThatMeetInALoopOfVaryingPeers) {
  const std::int32_t ranks = 40;
  const auto schedule = [&](std::int64_t missing) {
    return schedule_of(bcast(ranks), [=](LaneBuilder& lane, std::int64_t rank) {
      if (rank == 0)
        lane.loop(ranks - 1, [&](Variable i) { return Round{{send(mod(1 + Expression(i), ranks), in[whole()])}, 0}; });
      else if (rank != missing)
        lane.step(receive(0, out[whole()]));
    });
  };
  EXPECT_TRUE(check(schedule(-1)).ok());
  const Report r = check(schedule(17));
  EXPECT_EQ(first(r).check, Check::matching);
  EXPECT_EQ(first(r).place.rank, 0);
  EXPECT_EQ(first(r).place.peer, 17);
  EXPECT_EQ(first(r).place.loops, std::vector<std::int64_t>{16});
}

TEST(Matching, SignalsAreNoData) {
  const Report r =
      check(schedule_of(make_collective(CollectiveKind::barrier, 2, 0), [](LaneBuilder& lane, std::int64_t rank) {
        lane.round({signal(1 - rank), wait_signal(1 - rank)});
        if (rank == 0) lane.step(signal(1));
      }));
  EXPECT_EQ(first(r).check, Check::matching);
}

// --- deadlock

TEST(Deadlock, NamesTheCycle) {
  const std::int32_t ranks = 3;
  const Report r = check(schedule_of(allreduce(ranks, 9), [](LaneBuilder& lane, std::int64_t rank) {
    lane.step(send((rank + 1) % ranks, in[whole()]));
    lane.step(receive_reduce((rank + 2) % ranks, in[whole()], out[whole()]));
  }));
  EXPECT_EQ(first(r).check, Check::deadlock);
  EXPECT_NE(first(r).what.find("a cycle of 3 waits"), std::string::npos) << r.text();
  EXPECT_NE(first(r).what.find("rank 2, lane 0, segment 0, round 0, step 0 (send to 0)"), std::string::npos)
      << r.text();
}

// Rank 0 answers after all of its lane 0; rank 1's lane 0 must not wait for the answers.
TEST(Deadlock, ThroughAfterAtTwoRanks) {
  const auto schedule = [](std::int64_t window) {
    Schedule s = schedule_of(bcast(2), [](LaneBuilder&, std::int64_t) {}, {2});
    s.program = [window](Rank r) {
      ProgramBuilder program({2});
      LaneBuilder data(LaneId{0}, "", window), answer(LaneId{1}, "", 2);
      if (r.value == 0) {
        data.round({send(1, in[whole()]), wait_signal(1)});
        answer.after({LaneId{0}}, Scope::all);
      } else {
        data.step(receive(0, out[whole()]));
        data.step(signal(0));
      }
      answer.step(r.value == 0 ? signal(1) : wait_signal(0));
      program.add(std::move(data));
      program.add(std::move(answer));
      return program.finish();
    };
    return s;
  };
  EXPECT_TRUE(check(schedule(1)).ok()) << check(schedule(1)).text();
  Schedule stuck = schedule(1);
  const auto build = stuck.program;
  stuck.program = [build](Rank r) { // now rank 1's lane 0 waits for the answers
    Program p = build(r);
    if (r.value == 1) p.lanes[0].after = {After{{LaneId{1}}, Scope::segment}};
    return p;
  };
  EXPECT_EQ(first(check(stuck)).check, Check::deadlock);
}

TEST(Deadlock, SharedScratchNeedsItsReadersSegmentBySegment) {
  // The reader begins after all of the writer, which waits for the reader to free a slot.
  Schedule s = schedule_of(bcast(1, 12), [](LaneBuilder&, std::int64_t) {}, {4});
  s.program = [](Rank) {
    ProgramBuilder program({4});
    Scratch shared;
    shared.lane = LaneId{0};
    shared.shared = true;
    const Array cell = program.scratch(shared);
    LaneBuilder writer(LaneId{0}, "", 2), reader(LaneId{1}, "", 2);
    reader.after({LaneId{0}}, Scope::all);
    writer.step(copy(cell[whole()], in[whole()]));
    reader.step(copy(out[whole()], cell[whole()]));
    program.add(std::move(writer));
    program.add(std::move(reader));
    return program.finish();
  };
  EXPECT_EQ(first(check(s)).check, Check::deadlock);
}

// --- overlap and data

TEST(Overlap, WithinARound) {
  const Report r = check(schedule_of(bcast(2), [](LaneBuilder& lane, std::int64_t rank) {
    if (rank == 0) return lane.round({send(1, in[part(0, 2)]), send(1, in[part(0, 2)])});
    lane.round({receive(0, out[part(0, 2)]), receive(0, out[part(0, 2)])});
  }));
  EXPECT_EQ(first(r).check, Check::overlap);
  EXPECT_EQ(first(r).place.rank, 1);
}

TEST(Overlap, IterationsInFlight) {
  const auto schedule = [](std::int64_t in_flight) {
    return schedule_of(bcast(2), [in_flight](LaneBuilder& lane, std::int64_t rank) {
      lane.loop(
          3,
          [&](Variable) {
            return Round{{rank == 0 ? send(1, in[whole()]) : receive(0, out[whole()])}, 0};
          },
          in_flight);
    });
  };
  EXPECT_TRUE(check(schedule(1)).ok());
  EXPECT_EQ(first(check(schedule(2))).check, Check::overlap);
}

TEST(Dataflow, ReadsWhatNobodyWrote) {
  const Report r = check(schedule_of(allreduce(2), [](LaneBuilder& lane, std::int64_t rank) {
    lane.step(rank == 0 ? send(1, out[whole()]) : receive_reduce(0, in[whole()], out[whole()]));
  }));
  EXPECT_EQ(first(r).check, Check::dataflow);
  EXPECT_EQ(first(r).place.rank, 0);
  EXPECT_EQ(first(r).place.step, 0);
}

TEST(Dataflow, TwoTreesOverTheSameTermsAreOtherBits) {
  const Report r = check(schedule_of(allreduce(2), [](LaneBuilder& lane, std::int64_t rank) {
    lane.round({send(1 - rank, in[whole()]), receive_reduce(1 - rank, in[whole()], out[whole()])});
  }));
  EXPECT_EQ(first(r).check, Check::dataflow);
  EXPECT_NE(first(r).what.find("other bits"), std::string::npos) << r.text();
}

TEST(Dataflow, ABarrierThatLetsSomebodyOutEarly) {
  const Report r =
      check(schedule_of(make_collective(CollectiveKind::barrier, 4, 0), [](LaneBuilder& lane, std::int64_t rank) {
        lane.round({signal((rank + 1) % 4), wait_signal((rank + 3) % 4)});
      }));
  EXPECT_EQ(first(r).check, Check::dataflow);
}

// --- claims

TEST(Claims, ReadingTheInputAfterTheOutputWasWritten) {
  const auto schedule = [](bool in_place) {
    return schedule_of(allreduce(2, 8, in_place), [](LaneBuilder& lane, std::int64_t rank) {
      const auto side = rank == 0 ? Arriving::right : Arriving::left;
      lane.step(copy(out[whole()], in[whole()]));
      lane.round({send(1 - rank, in[whole()]), receive_reduce(1 - rank, in[whole()], out[whole()], side)});
    });
  };
  for (const bool in_place : {false, true}) { // the claim is tried whether the collective is in place or not
    const Report r = check(schedule(in_place));
    EXPECT_EQ(first(r).check, Check::claim);
    EXPECT_EQ(first(r).place.round, 1);
    EXPECT_EQ(first(check(schedule(in_place), sampled())).check, Check::claim);
    Schedule honest = schedule(in_place); // one that does not claim it gets a copy of its input
    honest.claims.in_place_safe = false;
    EXPECT_TRUE(check(honest).ok()) << check(honest).text();
  }
}

TEST(Claims, RankOrder) {
  const RankSpace space = RankSpace::row(5);
  Schedule ring = registered("ring", space, 40);
  ASSERT_TRUE(check(ring, space).ok());
  ring.claims.keeps_rank_order = true;
  EXPECT_NE(first(check(ring, space)).what.find("not in rank order"), std::string::npos);
}

TEST(Claims, AnUnorderedScheduleForAnOperationThatDoesNotCommute) {
  const RankSpace space = RankSpace::row(5);
  Schedule ring = registered("ring", space, 40);
  ring.collective.commutative = false;
  EXPECT_EQ(first(check(ring, space)).check, Check::claim);
}

TEST(Claims, Neighbours) {
  const RankSpace space = RankSpace::box(*Shape::parse("4x4"));
  Schedule s = registered("recursive_doubling", space, 40);
  s.claims.neighbours_only = true;
  EXPECT_EQ(first(check(s, space)).check, Check::claim);
  EXPECT_EQ(first(check(s, space)).place.step, 0);
}

// Rank 0 has something for rank 5 in one iteration of very many.
TEST(Claims, NeighboursThatMeetOthersOnce) {
  const RankSpace space = RankSpace::box(*Shape::parse("4x4"));
  for (const std::int64_t trip : {1'000, 50'000}) {
    Table table(trip, 0);
    table[trip / 2] = 1;
    const auto shared = std::make_shared<const Table>(table);
    Schedule s = schedule_of(bcast(16, 1'000'000), [=](LaneBuilder& lane, std::int64_t rank) {
      lane.loop(trip, [&](Variable i) {
        const Extent e = parts(i, Expression::look_up(shared, i), trip);
        if (rank == 0) return Round{{send(5, in[e])}, 0};
        return rank == 5 ? Round{{receive(0, out[e])}, 0} : Round{};
      });
    });
    s.claims.neighbours_only = true;
    std::vector<Finding> findings;
    LinkClaims(s, space, 10).add(s.program(Rank{0}), Rank{0}, findings);
    ASSERT_EQ(findings.size(), 1u) << trip;
    EXPECT_EQ(findings[0].place.peer, 5);
  }
}

TEST(Claims, PeersTooManyToListAreNotShownToBeNeighbours) {
  const std::int64_t trip = 150'000;
  Table table(trip, 1);
  table[trip / 2 + 1] = 2;
  const auto shared = std::make_shared<const Table>(table);
  const RankSpace space = RankSpace::row(8);
  Schedule s = schedule_of(bcast(8, 0), [=](LaneBuilder& lane, std::int64_t rank) {
    if (rank == 0)
      return lane.loop(trip, [&](Variable i) {
        return Round{{send(Expression::look_up(shared, i), in[part(i, trip)])}, 0};
      });
    if (rank == 1) lane.loop(trip - 1, [&](Variable) { return Round{{receive(0, out[part(0, trip)])}, 0}; });
    if (rank == 2) lane.step(receive(0, out[part(0, trip)]));
  });
  s.claims.neighbours_only = true;
  std::vector<Finding> findings;
  LinkClaims(s, space, 10).add(s.program(Rank{0}), Rank{0}, findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].what.find("cannot be shown"), std::string::npos) << findings[0].what;
}

TEST(Claims, SymmetryOfALongLoopIsShownOrDenied) {
  const RankSpace torus = RankSpace::box(*Shape::parse("4"));
  const std::int64_t trip = 10'000;
  Table table(trip, 0);
  table[trip / 2 + 1] = 1;
  const auto shared = std::make_shared<const Table>(table);
  const Schedule s = schedule_of(bcast(4), [=](LaneBuilder& lane, std::int64_t rank) {
    lane.loop(trip, [&](Variable i) {
      const Expression more = rank == 1 ? Expression::look_up(shared, i) : Expression(0) * 1;
      return Round{{send(mod(rank + 1 + more + mod(i, 2) * 0, 4), in[whole()])}, 0};
    });
  });
  EXPECT_EQ(first_asymmetric_rank(s, torus), 1);
}

TEST(Claims, TwoLanesOnOneLink) {
  const RankSpace space = RankSpace::box(*Shape::parse("4x4"));
  Schedule s = registered("trinaryx3", space, 40, 2);
  ASSERT_TRUE(s.claims.link_disjoint);
  // Lane 1 does what lane 0 does: the same tree twice.
  const auto build = s.program;
  s.claims.height = -1;
  s.program = [build](Rank r) {
    Program p = build(r);
    for (Lane& lane : p.lanes)
      for (const Lane& other : p.lanes)
        if (lane.id == LaneId{1} && other.id == LaneId{0}) lane.body = other.body;
    return p;
  };
  bool named = false;
  for (const Finding& f : check(s, space).findings) named |= f.place.lane == 1;
  EXPECT_TRUE(named);
}

TEST(Claims, SymmetryOfARingAndOfATree) {
  const RankSpace torus = RankSpace::box(*Shape::parse("4x3"));
  EXPECT_EQ(first_asymmetric_rank(registered("bucket", torus, 48), torus), -1);
  EXPECT_NE(first_asymmetric_rank(registered("binomial", torus, 48), torus), -1);
  // A shift of the row-major number is no translation of the torus.
  EXPECT_NE(first_asymmetric_rank(registered("ring", torus, 48), torus), -1);
}

TEST(Claims, TreesInBothDirectionsShareLinksWhereBroadcastOverlapsReduce) {
  const RankSpace space = RankSpace::box(*Shape::parse("3x3x3"));
  const auto overlapped = [&](std::int64_t trees) {
    Parameters p;
    p.trees = trees, p.overlap = true, p.segments = 3;
    const auto row = Registry::standard().find(CollectiveKind::allreduce, "trinaryx3");
    return *(*row)->build(allreduce(27, 1000), space, p);
  };
  EXPECT_TRUE(overlapped(3).claims.link_disjoint);
  EXPECT_TRUE(check(overlapped(3), space).ok()) << check(overlapped(3), space).text();
  Schedule six = overlapped(6);
  EXPECT_FALSE(six.claims.link_disjoint);
  EXPECT_TRUE(check(six, space).ok()) << check(six, space).text();
  six.claims.link_disjoint = true;
  EXPECT_EQ(first(check(six, space)).check, Check::claim);
}

// --- large schedules

TEST(Sampled, DeadlockIsShownOfLoopsAndSegmentsThatAreNotExecuted) {
  const RankSpace space = RankSpace::box(*Shape::parse("12x10x8"));
  Options few = sampled();
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
  for (const Sabotage& s : sabotages()) {
    if (s.name != "sequential_exchange") continue;
    const auto wrong = s.apply(ring);
    ASSERT_TRUE(wrong);
    Options few = sampled();
    few.most_control_steps = 10;
    const Report unknown = check(*wrong, space, few);
    EXPECT_FALSE(unknown.coverage.deadlock_shown);
    if (unknown.ok()) {
      EXPECT_NE(unknown.text().find("deadlock not shown"), std::string::npos) << unknown.text();
    }
    EXPECT_EQ(first(check(*wrong, space, sampled())).check, Check::deadlock);
  }
}

TEST(Budget, MoreStepsThanThereAreNumbers) {
  const RankSpace space = RankSpace::box(*Shape::parse("4x3"));
  const Schedule s = registered("ring", space, 280'000'000'000'000, 3'000'000'000'000);
  ASSERT_EQ(s.segments.count, 3'000'000'000'000);
  Schedule longer = s;
  longer.segments.count *= 10'000; // its programs are the same
  Schedule too_long = longer;
  too_long.segments.count *= 100;
  EXPECT_EQ(first(check(too_long, space)).check, Check::structure);
  for (const Schedule& large : {s, longer}) {
    const Report report = check(large, space);
    EXPECT_TRUE(report.ok()) << report.text();
    EXPECT_FALSE(report.coverage.exact);
    EXPECT_GE(report.coverage.steps, 3'000'000'000'000 * 12 * 44);
  }
}

// Few steps that cut the data in very many pieces.
TEST(Budget, ManyPiecesAreNotExecutedWhole) {
  const RankSpace space = RankSpace::row(2304);
  const Report report = check(registered("rabenseifner", space, 1'000'003), space);
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_FALSE(report.coverage.exact);
  EXPECT_LT(report.coverage.steps, Options{}.most_exact_steps);
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

// The last rank's entry reaches all but one.
TEST(Dataflow, ABarrierOfManyRanksThatLetsOneOutEarly) {
  const std::int32_t ranks = 1030;
  const auto schedule = [=](bool wrong) {
    return schedule_of(make_collective(CollectiveKind::barrier, ranks, 0), [=](LaneBuilder& lane, std::int64_t rank) {
      if (rank > 0) {
        lane.step(signal(0));
        lane.step(wait_signal(0));
        return;
      }
      const std::int64_t early = wrong ? ranks - 2 : ranks - 1; // of 1029 wait all, or all but one
      lane.loop(early, [&](Variable i) { return Round{{wait_signal(i + 1)}, 0}; });
      lane.step(signal(1));
      if (wrong) lane.step(wait_signal(ranks - 1));
      lane.loop(ranks - 2, [&](Variable i) { return Round{{signal(i + 2)}, 0}; });
    });
  };
  const Report right = check(schedule(false));
  EXPECT_TRUE(right.ok()) << right.text();
  EXPECT_TRUE(right.coverage.exact);
  const Report wrong = check(schedule(true));
  EXPECT_EQ(first(wrong).place.rank, 1);
  EXPECT_NE(first(wrong).what.find("before rank 1029"), std::string::npos) << wrong.text();
  Options few;
  few.most_exact_steps = 5'000; // one execution, and not the three that follow every entry
  EXPECT_FALSE(check(schedule(false), few).coverage.exact);
}

// The reader begins after all of the writer, which waits for it to free a slot: no single segment shows that.
TEST(Sampled, OneSegmentStandsForAllOnlyWhereWaitsAreWithinSegments) {
  Schedule s = schedule_of(bcast(1, 1200), [](LaneBuilder&, std::int64_t) {}, {40});
  s.program = [](Rank) {
    ProgramBuilder program({40});
    Scratch shared;
    shared.lane = LaneId{0};
    shared.shared = true;
    const Array cell = program.scratch(shared);
    LaneBuilder writer(LaneId{0}, "", 2), reader(LaneId{1}, "", 2);
    reader.after({LaneId{0}}, Scope::all);
    writer.step(copy(cell[whole()], in[whole()]));
    reader.step(copy(out[whole()], cell[whole()]));
    program.add(std::move(writer));
    program.add(std::move(reader));
    return program.finish();
  };
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

TEST(Sampled, PairsBeyondTheBudgetAreMarkedAsASample) {
  const std::int32_t ranks = 40;
  Options few;
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
  p.window = std::numeric_limits<std::int64_t>::max();
  const auto row = Registry::standard().find(CollectiveKind::allreduce, "trinaryx3");
  const auto s = (*row)->build(allreduce(36, 1000), space, p);
  ASSERT_TRUE(s);
  for (const Options& o : {Options{}, sampled()}) EXPECT_TRUE(check(*s, space, o).ok()) << check(*s, space, o).text();
}

TEST(Structure, WhatIsNotTriedEverywhereIsNotTakenAsRight) {
  const std::int64_t trip = 50'000;
  Table table(trip, 0);
  table[31'415] = 7;
  const auto shared = std::make_shared<const Table>(table);
  Schedule s = schedule_of(bcast(2), [shared](LaneBuilder& lane, std::int64_t rank) {
    lane.loop(trip, [&](Variable i) {
      const Expression other = 1 - rank + Expression::look_up(shared, i);
      return Round{{rank == 0 ? send(other, in[whole()]) : receive(other, out[whole()])}, 0};
    });
  });
  EXPECT_EQ(first(check(s)).check, Check::structure);
}

TEST(Sampled, FindsWhatMatchingAndEverySampleShow) {
  const RankSpace space = RankSpace::box(*Shape::parse("12x10x8"));
  for (const std::string_view name : {"ring", "recursive_doubling", "binomial", "trinaryx3"}) {
    const Schedule s = registered(name, space, 1'000'003, 5);
    const Report right = check(s, space, sampled());
    EXPECT_TRUE(right.ok()) << name << ": " << right.text();
    EXPECT_FALSE(right.coverage.exact);
    EXPECT_GE(right.coverage.samples, 2);
    for (const Sabotage& sabotage : sabotages()) {
      for (const std::string_view found_by_matching : {"wrong_peer", "wrong_length", "lost_message", "extra_receive",
                                                       "last_segment", "doubled_contribution", "swapped_operands"}) {
        if (sabotage.name != found_by_matching) continue;
        const auto wrong = sabotage.apply(s);
        if (!wrong) continue;
        EXPECT_FALSE(check(*wrong, space, sampled()).ok()) << name << " " << sabotage.name;
      }
    }
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
    Options o = sampled();
    o.samples = 0;
    EXPECT_EQ(check(s, space, o).ok(), wrong < 0) << wrong << ": " << check(s, space, o).text();
  }
}

TEST(Sampled, AgreesWithTheWholeOnEveryAlgorithm) {
  const RankSpace space = RankSpace::box(*Shape::parse("5x4"));
  for (const Variant& v : Registry::standard().variants()) {
    const auto s = v.build(make_collective(v.kind, 20, 997), space, {});
    if (!s) continue;
    const Report report = check(*s, space, sampled());
    EXPECT_TRUE(report.ok()) << v.name << ": " << report.text();
    EXPECT_GT(report.coverage.executed, 0);
  }
}

} // namespace
} // namespace kumihimo::verify
