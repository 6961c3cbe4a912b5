// What each collective of MPI gives, written out by hand: three ranks, blocks or vectors of five elements, root 1.
#include "schedule/data.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

using Parts = std::vector<Contribution>;
using Kind = CollectiveKind;

Parts parts(Kind kind, std::int32_t rank) {
  const Rank root{kind->has_root() ? 1 : 0};
  return contributions(make_collective(kind, 3, 5, DataType::float64, Operation::sum, root), Rank{rank});
}

TEST(Contributions, OfWhatIsMoved) {
  EXPECT_EQ(parts(Kind::barrier, 0), Parts{});
  EXPECT_EQ(parts(Kind::bcast, 2), (Parts{{5, 1, 2, 0}}));
  EXPECT_EQ(parts(Kind::scatter, 2), (Parts{{5, 1, 2, 10}}));
  EXPECT_EQ(parts(Kind::gather, 1), (Parts{{5, 0, 1, 0}, {5, 1, 2, 0}, {5, 2, 3, 0}}));
  EXPECT_EQ(parts(Kind::gather, 0), Parts{}) << "not the root";
  EXPECT_EQ(parts(Kind::allgather, 0), parts(Kind::gather, 1));
  EXPECT_EQ(parts(Kind::alltoall, 2), (Parts{{5, 0, 1, 10}, {5, 1, 2, 10}, {5, 2, 3, 10}}));
}

TEST(Contributions, OfWhatIsReduced) {
  EXPECT_EQ(parts(Kind::reduce, 1), (Parts{{5, 0, 3, 0}}));
  EXPECT_EQ(parts(Kind::reduce, 0), Parts{}) << "not the root";
  EXPECT_EQ(parts(Kind::allreduce, 2), (Parts{{5, 0, 3, 0}}));
  EXPECT_EQ(parts(Kind::scan, 1), (Parts{{5, 0, 2, 0}}));
  EXPECT_EQ(parts(Kind::exscan, 1), (Parts{{5, 0, 1, 0}}));
  EXPECT_EQ(parts(Kind::exscan, 0), Parts{});
  EXPECT_EQ(parts(Kind::reduce_scatter, 2), (Parts{{5, 0, 3, 10}}));
}

// On a ring of three: the first block is for the rank before, and comes from it.
TEST(Contributions, OfNeighbours) {
  EXPECT_EQ(parts(Kind::neighbor_allgather, 0), (Parts{{5, 2, 3, 0}, {5, 1, 2, 0}}));
  EXPECT_EQ(parts(Kind::neighbor_alltoall, 0), (Parts{{5, 2, 3, 5}, {5, 1, 2, 0}}));
  const Neighbourhood ends = Neighbourhood::cartesian({{3, false}}, "cart:3m");
  const auto c =
      with_neighbours(make_collective(Kind::neighbor_allgather, 3, 5), std::make_shared<const Neighbourhood>(ends));
  EXPECT_EQ(contributions(*c, Rank{0}), (Parts{{5, -1, 0, 0}, {5, 1, 2, 0}})) << "nobody is before rank 0";
}

TEST(Contributions, OfIrregularBlocks) {
  const auto irregular = [](Kind kind, std::vector<std::int64_t> counts, std::int32_t rank) {
    return contributions(*with_counts(make_collective(kind, 2, 0), std::move(counts)), Rank{rank});
  };
  EXPECT_EQ(irregular(Kind::alltoall, {1, 2, 0, 4}, 1), (Parts{{2, 0, 1, 1}, {4, 1, 2, 0}}));
  EXPECT_EQ(irregular(Kind::allgather, {3, 0}, 1), (Parts{{3, 0, 1, 0}, {0, 1, 2, 0}}));
  EXPECT_EQ(irregular(Kind::reduce_scatter, {3, 0}, 1), (Parts{{0, 0, 2, 3}}));
  EXPECT_EQ(irregular(Kind::scatter, {3, 2}, 1), (Parts{{2, 0, 1, 3}}));
  EXPECT_EQ(irregular(Kind::gather, {3, 2}, 0), (Parts{{3, 0, 1, 0}, {2, 1, 2, 0}}));
  EXPECT_EQ(irregular(Kind::gather, {3, 2}, 1), Parts{}) << "not the root";
}

// Each Python module has a copy of the table, at other addresses.
TEST(CollectiveKind, KindsOfACopyOfTheTableAreTheSame) {
  for (const Kind kind : all_collectives) {
    const CollectiveRow copy = *kind;
    for (const Kind other : all_collectives) {
      EXPECT_EQ(Kind(copy) == other, name_of(kind) == name_of(other)) << copy.name << " and " << name_of(other);
      EXPECT_EQ(Kind(copy) < other, kind < other) << copy.name << " and " << name_of(other);
    }
  }
}

TEST(CollectiveKind, RowsAreInTheOrderOfTheTable) {
  for (std::size_t i = 0; i < collective_kinds; ++i) EXPECT_EQ(all_collectives[i].index(), i);
  for (const Kind kind : all_collectives) EXPECT_EQ(*parse_collective(name_of(kind)), kind);
  for (const Kind kind : {Kind::bcast, Kind::reduce, Kind::gather, Kind::scatter}) EXPECT_TRUE(kind->has_root());
  EXPECT_FALSE(Kind::bcast->may_be_in_place());
  EXPECT_TRUE(Kind::scatter->is_in_place_by_receiver());
}

} // namespace
} // namespace kumihimo
