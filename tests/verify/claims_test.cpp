// What schedules assert of themselves: shown, denied, or not shown.
#include "support.hpp"
#include "verify/claims.hpp"

namespace kumihimo::verify {
namespace {

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
  Collective asked = ring.collective();
  asked.commutative = false;
  ring.set_collective(asked);
  EXPECT_EQ(first(check(ring, space)).check, Check::claim);
}

TEST(Claims, SameOnAllRanks) {
  const RankSpace space = RankSpace::row(4);
  const auto wrong = sabotage_named("other_order_at_one_rank").apply(registered("recursive_doubling", space, 40));
  ASSERT_TRUE(wrong);
  EXPECT_NE(first(check(*wrong, space)).what.find("the bits differ"), std::string::npos);
  EXPECT_NE(first(check(*wrong, space, sampled())).what.find("the bits differ"), std::string::npos);
  Schedule honest = *wrong; // one that does not claim it is right all the same
  honest.claims.same_on_all_ranks = false;
  EXPECT_TRUE(check(honest, space).ok()) << check(honest, space).text();
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
    LinkClaims(Subject(s), space, 10).add(s.program(Rank{0}), Rank{0}, findings);
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
  LinkClaims(Subject(s), space, 10).add(s.program(Rank{0}), Rank{0}, findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].what.find("cannot be proven"), std::string::npos) << findings[0].what;
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

} // namespace
} // namespace kumihimo::verify
