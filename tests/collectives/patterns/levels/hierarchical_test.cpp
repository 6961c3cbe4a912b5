// What leaders exchange for all their ranks is counted without overflow.
#include "collectives/registry.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

Result<Schedule> alltoall(const RankSpace& space, std::int64_t count) {
  const Variant& v = **Registry::standard().find(CollectiveKind::alltoall, "hierarchical");
  return v.build(make_collective(CollectiveKind::alltoall, space.ranks(), count), space, {});
}

TEST(Hierarchical, BlocksOfPairsThatNoNumberHoldsAreRefused) {
  // 2^44 elements are allowed to 2^13 ranks; times the 2^24 pairs of two nodes they would be a multiple of 2^64.
  const Result<Schedule> s = alltoall(RankSpace::box(*Shape::parse("2"), 1 << 12), std::int64_t{1} << 44);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().kind, Error::Kind::not_applicable);
  EXPECT_NE(s.error().sentence().find("2^61 bytes"), std::string::npos) << s.error().sentence();
}

TEST(Hierarchical, LongBlocksOfFewRanksAreNot) {
  const Result<Schedule> s = alltoall(RankSpace::box(*Shape::parse("2x2"), 4), std::int64_t{1} << 40);
  EXPECT_TRUE(s.ok()) << s.error().sentence();
}

} // namespace
} // namespace kumihimo
