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

// Few steps that cut the data in very many pieces.
TEST(Budget, ManyPiecesAreNotExecutedWhole) {
  const RankSpace space = RankSpace::row(2304);
  const Report report = check(registered("rabenseifner", space, 1'000'003), space);
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_FALSE(report.coverage.exact);
  EXPECT_LT(report.coverage.steps, Options{}.most_exact_steps);
}

} // namespace
} // namespace kumihimo::verify
