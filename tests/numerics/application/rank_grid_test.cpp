// Grids of ranks over a box: their parts tile it, and the chosen one has the smallest faces.
#include "application/rank_grid.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace kumihimo::application {
namespace {

using Box = std::array<std::int64_t, 3>;

TEST(RankGrid, PartsTileTheBox) {
  std::mt19937 random(1);
  int made = 0;
  for (int i = 0; i < 200; ++i) {
    Box cells{};
    for (auto& n : cells) n = 1 + static_cast<std::int64_t>(random() % 6);
    const auto ranks = static_cast<std::int32_t>(1 + random() % 12);
    const Result<RankGrid> grid = choose_grid(ranks, cells);
    if (!grid) continue;
    ++made;
    ASSERT_EQ(grid->count(), ranks);
    std::multiset<std::int64_t> covered;
    for (std::int32_t r = 0; r < ranks; ++r) {
      EXPECT_EQ(grid->rank_at(grid->coordinates(r)), r);
      const auto part = grid->part(cells, r);
      for (auto z = part[2].begin; z < part[2].end; ++z)
        for (auto y = part[1].begin; y < part[1].end; ++y)
          for (auto x = part[0].begin; x < part[0].end; ++x) covered.insert(x + cells[0] * (y + cells[1] * z));
      EXPECT_GT(part[0].size() * part[1].size() * part[2].size(), 0);
    }
    ASSERT_EQ(covered.size(), static_cast<std::size_t>(cells[0] * cells[1] * cells[2]));
    EXPECT_EQ(std::set<std::int64_t>(covered.begin(), covered.end()).size(), covered.size());
  }
  EXPECT_GT(made, 100);
}

TEST(RankGrid, IsChosenForSmallFaces) {
  EXPECT_EQ(choose_grid(2, {8, 8, 8})->ranks, (std::array<std::int32_t, 3>{1, 1, 2}));
  EXPECT_EQ(choose_grid(8, {8, 8, 8})->ranks, (std::array<std::int32_t, 3>{2, 2, 2}));
  EXPECT_EQ(choose_grid(4, {64, 4, 4})->ranks, (std::array<std::int32_t, 3>{4, 1, 1}));
  EXPECT_EQ(choose_grid(7, {3, 2, 2}).error().sentence(),
            "no grid of 7 ranks fits 3x2x2 cells; use fewer ranks or a larger size");
}

TEST(RankGrid, IsReadAsTheUserWritesIt) {
  EXPECT_EQ(parse_grid("2x1x3", 6)->ranks, (std::array<std::int32_t, 3>{2, 1, 3}));
  for (const char* wrong : {"2x3", "6", "", "2x1x3x1", "0x1x6", "-1x1x6", "2x1x4", "3000000000x3000000000x1"})
    EXPECT_FALSE(parse_grid(wrong, 6).ok()) << wrong;
  EXPECT_EQ(*parse_box("12", 100), (Box{12, 12, 12}));
  EXPECT_EQ(*parse_box("12x3x4", 100), (Box{12, 3, 4}));
  for (const char* wrong :
       {"", "x", "12x3", "1x2x3x4", "0", "-3", "1x0x3", "12 ", "1e3", "101", "99999999999999999999"})
    EXPECT_FALSE(parse_box(wrong, 100).ok()) << wrong;
  EXPECT_FALSE(check_fits(RankGrid{{1, 5, 1}}, {9, 4, 9}).ok());
}

} // namespace
} // namespace kumihimo::application
