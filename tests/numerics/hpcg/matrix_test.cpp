#include "hpcg/grid.hpp"
#include "hpcg/matrix.hpp"
#include "hpcg/ordering.hpp"
#include "hpcg/sliced.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

namespace kumihimo::hpcg {
namespace {

const std::vector<HpcgGrid> grids = {{16, 16, 16}, {16, 24, 32}, {32, 16, 16}};

// The entry by its definition.
double entry(const HpcgGrid& g, std::int64_t row, std::int64_t column) {
  const auto apart = [](std::int64_t a, std::int64_t b) { return std::abs(a - b) <= 1; };
  const bool near = apart(row % g.nx, column % g.nx) && apart(row / g.nx % g.ny, column / g.nx % g.ny) &&
                    apart(row / g.nx / g.ny, column / g.nx / g.ny);
  return row == column ? 26 : near ? -1 : 0;
}

TEST(HpcgGrid, MustHaveSidesThatFourLevelsCanHalve) {
  EXPECT_TRUE(check({16, 104, 1024}).ok());
  for (const HpcgGrid& wrong : {HpcgGrid{0, 16, 16}, {16, 8, 16}, {16, 16, 20}, {-16, 16, 16}, {16, 16, 1032}}) {
    const Status status = check(wrong);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().sentence().find("multiple of 8 from 16 to 1024"), std::string::npos);
  }
}

TEST(HpcgMatrix, HasTheEntriesOfItsDefinition) {
  for (const HpcgGrid& g : grids) {
    const Result<HpcgMatrix> a = make_matrix(g);
    ASSERT_TRUE(a);
    EXPECT_EQ(a->row_begin[a->rows()], g.nonzeros());
    std::mt19937 random(1);
    for (int times = 0; times < 300; ++times) {
      const std::int64_t row = static_cast<std::int64_t>(random()) % g.rows();
      std::vector<double> dense(static_cast<std::size_t>(g.rows()), 0.0);
      for (std::int64_t k = a->row_begin[row]; k < a->row_begin[row + 1]; ++k)
        dense[static_cast<std::size_t>(a->columns[k])] += a->values[k];
      EXPECT_EQ(a->columns[a->diagonal[row]], row);
      for (std::int64_t column = 0; column < g.rows(); ++column)
        ASSERT_EQ(dense[static_cast<std::size_t>(column)], entry(g, row, column)) << row << " " << column;
    }
  }
}

TEST(Ordering, GroupsHaveIndependentRowsAndHoldEachRowOnce) {
  for (const HpcgGrid& g : grids) {
    const Result<HpcgMatrix> a = make_matrix(g);
    const std::vector<std::int32_t> points = coarse_points(g);
    for (const OrderingKind kind : {OrderingKind::levels, OrderingKind::colours}) {
      const Ordering o = make_ordering(*a, kind, points);
      std::vector<std::int64_t> group(static_cast<std::size_t>(g.rows()));
      for (std::int64_t i = 0; i < o.groups(); ++i)
        for (std::int64_t row = o.group_begin[static_cast<std::size_t>(i)];
             row < o.group_begin[static_cast<std::size_t>(i) + 1]; ++row)
          group[static_cast<std::size_t>(o.old_of_new[static_cast<std::size_t>(row)])] = i;
      for (std::int64_t i = 0; i < g.rows(); ++i) {
        ASSERT_EQ(o.old_of_new[static_cast<std::size_t>(o.new_of_old[static_cast<std::size_t>(i)])], i);
        for (std::int64_t k = a->row_begin[i]; k < a->row_begin[i + 1]; ++k) {
          const std::int32_t j = a->columns[k];
          if (j == i) continue;
          const std::int64_t mine = group[static_cast<std::size_t>(i)], other = group[static_cast<std::size_t>(j)];
          ASSERT_NE(mine, other);
          if (kind == OrderingKind::levels) { // the order of the sequential sweep
            ASSERT_EQ(j < i, other < mine);
          }
        }
      }
      if (kind == OrderingKind::colours) {
        EXPECT_EQ(o.groups(), 8);
        for (const std::int32_t point : points) ASSERT_EQ(group[static_cast<std::size_t>(point)], 7);
      }
    }
  }
}

TEST(Ordering, HasTwoNames) {
  EXPECT_EQ(*ordering_named("levels"), OrderingKind::levels);
  EXPECT_EQ(*ordering_named("colours"), OrderingKind::colours);
  EXPECT_FALSE(ordering_named("natural").ok());
}

TEST(SlicedMatrix, StoresEachEntryOnce) {
  const HpcgGrid g{16, 24, 16};
  const Result<HpcgMatrix> a = make_matrix(g);
  for (const OrderingKind kind : {OrderingKind::levels, OrderingKind::colours}) {
    const Ordering o = make_ordering(*a, kind, coarse_points(g));
    const Result<SlicedMatrix> m = SlicedMatrix::make(*a, o);
    ASSERT_TRUE(m);
    double sum = 0;
    for (const SlicedView& part : {m->view().lower, m->view().upper})
      for (std::int64_t k = 0; k < part.begin[m->slices()] * lanes; ++k) sum += part.values[k];
    EXPECT_EQ(sum, -static_cast<double>(g.nonzeros() - g.rows()));
    EXPECT_EQ(m->view().first_row[m->slices()], g.rows());
  }
}

} // namespace
} // namespace kumihimo::hpcg
