// Schedules of more steps or pieces than can be executed.
#include "support.hpp"

namespace kumihimo::verify {
namespace {

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

// One rank has nothing to do in a million iterations of two loops, one in the other.
TEST(Budget, AMillionEmptyIterations) {
  Schedule s = schedule_of(allreduce(3), [](LaneBuilder& lane, std::int64_t rank) {
    lane.loop(1000, [&](BodyBuilder& outer, Variable) {
      outer.loop(1000, [&](Variable) { return rank == 2 ? Round{} : Round{{copy(out[whole()], in[whole()])}, 0}; });
    });
    if (rank == 0) lane.step(receive_reduce(1, in[whole()], out[whole()]));
    if (rank == 0) lane.step(receive_reduce(2, out[whole()]));
    if (rank > 0) lane.step(send(0, in[whole()]));
    if (rank == 0) lane.round({send(1, out[whole()]), send(2, out[whole()])});
    if (rank > 0) lane.step(receive(0, out[whole()]));
  });
  s.claims.in_place_safe = false;
  VerifyOptions whole;
  whole.most_exact_steps = 100'000'000;
  const Report report = check(s, whole);
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_TRUE(report.coverage.exact);
}

// Few steps that cut the data in very many pieces.
TEST(Budget, ManyPiecesAreNotExecutedWhole) {
  const RankSpace space = RankSpace::row(2304);
  const Report report = check(registered("rabenseifner", space, 1'000'003), space);
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_FALSE(report.coverage.exact);
  EXPECT_LT(report.coverage.steps, VerifyOptions{}.most_exact_steps);
}

} // namespace
} // namespace kumihimo::verify
