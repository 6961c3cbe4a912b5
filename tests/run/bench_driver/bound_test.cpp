// The bound that measurements are drawn against: every input read once, every output written once.
#include "bench_driver/bound.hpp"
#include "collectives/named_neighbours.hpp"

#include <gtest/gtest.h>

namespace kumihimo::bench_driver {
namespace {

// In vectors, at one vector a second.
std::optional<double> vectors(CollectiveKind kind, std::int32_t ranks, std::int64_t count = 1024) {
  const Collective c = make_collective(kind, ranks, count);
  return bound_seconds(c, {{4096, static_cast<double>(c.bytes().value)}});
}

TEST(Bound, CountsInputsReadAndOutputsWrittenOnce) {
  for (const std::int32_t P : {2, 4, 7}) {
    EXPECT_EQ(vectors(CollectiveKind::allreduce, P), 2.0 * P);
    EXPECT_EQ(vectors(CollectiveKind::reduce, P), P + 1.0);
    EXPECT_EQ(vectors(CollectiveKind::bcast, P), P);
    EXPECT_EQ(vectors(CollectiveKind::scan, P), 2.0 * P);
    EXPECT_EQ(vectors(CollectiveKind::exscan, P), 2.0 * P - 1) << "rank 0 gets nothing";
  }
}

TEST(Bound, CountsBlocks) {
  const auto blocks = [](CollectiveKind kind, bool in_place = false) {
    const Collective c = make_collective(kind, 4, 1024, DataType::float64, Operation::sum, Rank{1}, in_place);
    return bound_seconds(c, {{4096, 8192.0}});
  };
  EXPECT_EQ(blocks(CollectiveKind::gather), 8);
  EXPECT_EQ(blocks(CollectiveKind::scatter), 8);
  EXPECT_EQ(blocks(CollectiveKind::allgather), 4 + 16);
  EXPECT_EQ(blocks(CollectiveKind::reduce_scatter), 16 + 4);
  EXPECT_EQ(blocks(CollectiveKind::alltoall), 32);
  EXPECT_EQ(blocks(CollectiveKind::barrier), std::nullopt);
  EXPECT_EQ(blocks(CollectiveKind::gather, true), 6) << "the root's own block stays";
  EXPECT_EQ(blocks(CollectiveKind::scatter, true), 6);
  EXPECT_EQ(blocks(CollectiveKind::allgather, true), 4 + 12) << "others read a rank's own block";
  EXPECT_EQ(blocks(CollectiveKind::alltoall, true), 24);
}

TEST(Bound, CountsNoBlocksWhereThereIsNoNeighbour) {
  const auto blocks = [](CollectiveKind kind, const char* axes, std::int32_t ranks) {
    const Collective c = make_collective(kind, ranks, 1024);
    return bound_seconds(*with_neighbours(c, *named_neighbours(axes, ranks)), {{4096, 8192.0}});
  };
  EXPECT_EQ(blocks(CollectiveKind::neighbor_alltoall, "cart:4", 4), 16) << "two of each";
  EXPECT_EQ(blocks(CollectiveKind::neighbor_alltoall, "cart:4m", 4), 12) << "the ends have one";
  EXPECT_EQ(blocks(CollectiveKind::neighbor_alltoall, "cart:2mx2mx2m", 8), 48);
  EXPECT_EQ(blocks(CollectiveKind::neighbor_allgather, "cart:4m", 4), 6 + 4);
  EXPECT_EQ(blocks(CollectiveKind::neighbor_allgather, "edges:0>1,0>1", 3), 2 + 1) << "two ranks have nothing to say";
}

TEST(Bound, IsNoneForOneRankAndBelowTheSmallestSizeMeasured) {
  EXPECT_EQ(vectors(CollectiveKind::allreduce, 1), std::nullopt);
  EXPECT_EQ(vectors(CollectiveKind::allreduce, 4, 511), std::nullopt);
  EXPECT_EQ(bound_seconds(make_collective(CollectiveKind::allreduce, 4, 1024), {}), std::nullopt);
}

TEST(Bound, TakesTheRateOfTheLargestSizeThatIsNotLonger) {
  const std::vector<CopyRate> rates = {{4096, 1e9}, {16384, 2e9}, {65536, 4e9}};
  EXPECT_DOUBLE_EQ(*bound_seconds(make_collective(CollectiveKind::allreduce, 2, 4096), rates), 4 * 32768 / 2e9);
}

TEST(Bound, CopiesArraysNoLongerThanTheVectors) {
  EXPECT_TRUE(copied_sizes(8).empty()) << "memory and time for rates that no bound is drawn from";
  EXPECT_EQ(copied_sizes(4096), std::vector<std::int64_t>{4096});
  EXPECT_EQ(copied_sizes(65535), (std::vector<std::int64_t>{4096, 16384}));
  EXPECT_EQ(copied_sizes(std::int64_t{1} << 30).back(), std::int64_t{64} << 20);
}

TEST(Bound, IsTheSameByTheRatesOfArraysNoLongerThanTheVectors) {
  const auto rates = [](std::int64_t longest) {
    std::vector<CopyRate> found;
    for (const std::int64_t bytes : copied_sizes(longest)) found.push_back({bytes, 1e15 / static_cast<double>(bytes)});
    return found;
  };
  for (std::int64_t count = 1; count < std::int64_t{1} << 24; count = count * 3 + 1) {
    const Collective c = make_collective(CollectiveKind::allreduce, 4, count);
    EXPECT_EQ(bound_seconds(c, rates(c.bytes().value)), bound_seconds(c, rates(std::int64_t{1} << 40)));
  }
}

} // namespace
} // namespace kumihimo::bench_driver
