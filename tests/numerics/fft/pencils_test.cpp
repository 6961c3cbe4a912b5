// Decompositions: every point belongs to one rank, and lines are whole.
#include "fft/pencils.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kumihimo::fft {
namespace {

TEST(Pencils, EachPointHasOneRankAndItsAxisIsWhole) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const Triple points = {1 + static_cast<std::int64_t>(random() % 9), 1 + static_cast<std::int64_t>(random() % 9),
                           1 + static_cast<std::int64_t>(random() % 9)};
    const RankPencils pencils{points, static_cast<std::int32_t>(1 + random() % 5),
                              static_cast<std::int32_t>(1 + random() % 5)}; // also more ranks than lines
    for (const std::size_t axis : {0U, 1U, 2U}) {
      std::int64_t all = 0;
      const std::vector<PointBox> boxes = pencils.boxes(axis);
      for (std::size_t a = 0; a < boxes.size(); ++a) {
        all += boxes[a].points();
        if (!boxes[a].is_empty()) {
          EXPECT_EQ(boxes[a].length(axis), points[axis]);
        }
        for (std::size_t b = 0; b < a; ++b) EXPECT_TRUE(common_box(boxes[a], boxes[b]).is_empty());
      }
      EXPECT_EQ(all, points[0] * points[1] * points[2]);
    }
  }
}

TEST(Pencils, RanksExchangeWithinRowsAndColumnsAlone) {
  const RankPencils pencils{{7, 6, 5}, 3, 2};
  EXPECT_EQ(pencils.row_of(3), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(pencils.column_of(3), (std::vector<std::int32_t>{1, 3, 5}));
  for (std::int32_t a = 0; a < 6; ++a)
    for (std::int32_t b = 0; b < 6; ++b) {
      EXPECT_NE(common_box(pencils.box(2, a), pencils.box(1, b)).is_empty(), a / 2 == b / 2) << a << b;
      EXPECT_NE(common_box(pencils.box(1, a), pencils.box(0, b)).is_empty(), a % 2 == b % 2) << a << b;
    }
}

TEST(Pencils, SlabsHaveWholePlanes) {
  const Result<RankPencils> slabs = parse_pencils({8, 8, 8}, 4, "auto");
  ASSERT_TRUE(slabs.ok());
  EXPECT_EQ(slabs->columns, 1);
  EXPECT_EQ(slabs->box(2, 1), slabs->box(1, 1));
}

TEST(Pencils, MoreRanksThanPlanesGetPencils) {
  const Result<RankPencils> pencils = parse_pencils({4, 8, 8}, 12, "auto");
  ASSERT_TRUE(pencils.ok());
  EXPECT_EQ(pencils->rows, 4);
  EXPECT_EQ(pencils->columns, 3);
}

TEST(Pencils, ADecompositionThatDoesNotFitIsOneSentence) {
  const auto sentence = [](const char* grid) { return parse_pencils({8, 8, 8}, 4, grid).error().sentence(); };
  EXPECT_EQ(sentence("3x2"), "rows x columns must be the number of ranks, 4 (got 3x2)");
  EXPECT_EQ(sentence("plane"),
            "the decomposition must be auto, slab, pencil, or rows x columns such as 4x2 (got 'plane')");
  EXPECT_EQ(sentence("0x4"), "the decomposition must be auto, slab, pencil, or rows x columns such as 4x2 (got '0x4')");
}

} // namespace
} // namespace kumihimo::fft
