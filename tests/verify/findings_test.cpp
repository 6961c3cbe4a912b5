// What each check finds, on schedules written for it.
#include "support.hpp"

namespace kumihimo::verify {
namespace {

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

// Where irregular blocks begin in an order of the schedule's own only the schedule can say.
TEST(Structure, IrregularBlocksInAnOrderThatIsNotSaid) {
  Collective c = make_collective(CollectiveKind::alltoall, 2, 3);
  c.in_place = true;
  constexpr Layout by_source = declared_layout(0);
  const auto schedule = [](const Collective& asked, std::vector<std::int64_t> begins) {
    BlockLayout pairs;
    pairs.name = "pairs_by_source", pairs.unit = "pair";
    pairs.blocks = 4, pairs.each = 3;
    if (!begins.empty()) pairs.begins = std::make_shared<const std::vector<std::int64_t>>(std::move(begins));
    Schedule s(asked, {pairs});
    s.program = [](Rank r) {
      ProgramBuilder program;
      LaneBuilder lane(LaneId{0}, "", 1);
      const Array rows = program.named_blocks(LaneId{0}, by_source, r.value * 2, 2);
      const Chunk all = rows[blocks(by_source, r.value * 2, 2)];
      lane.step(copy(all, in[blocks(Layout::input_blocks, 0, 2)]));
      lane.round(exchange(1 - r.value, rows[blocks(by_source, r.value * 2 + 1 - r.value)], 1 - r.value,
                          into(out[blocks(Layout::output_blocks, 1 - r.value)])));
      program.add(std::move(lane));
      return program.finish();
    };
    return s;
  };
  EXPECT_TRUE(check(schedule(c, {})).ok());
  Schedule undeclared = schedule(c, {});
  undeclared.data = data_of(c);
  EXPECT_EQ(first(check(undeclared)).check, Check::structure);
  c = *with_counts(c, {1, 4, 4, 2});
  EXPECT_EQ(first(check(schedule(c, {0, 1, 5}))).check, Check::structure) << "not where all blocks begin";
  EXPECT_TRUE(check(schedule(c, {0, 1, 5, 9, 11})).ok());
  EXPECT_EQ(first(check(schedule(c, {0, 1, 4, 9, 11}))).check, Check::structure)
      << "lengths that are not those of the counts";
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
  const Schedule s = reader_after_all_of_its_writer(12, 4);
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
  EXPECT_NE(first(r).what.find("the bits differ"), std::string::npos) << r.text();
}

TEST(Dataflow, ABarrierThatLetsSomebodyOutEarly) {
  const Report r =
      check(schedule_of(make_collective(CollectiveKind::barrier, 4, 0), [](LaneBuilder& lane, std::int64_t rank) {
        lane.round({signal((rank + 1) % 4), wait_signal((rank + 3) % 4)});
      }));
  EXPECT_EQ(first(r).check, Check::dataflow);
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
  VerifyOptions few;
  few.most_exact_steps = 5'000; // one execution, and not the three that follow every entry
  EXPECT_FALSE(check(schedule(false), few).coverage.exact);
}

} // namespace
} // namespace kumihimo::verify
