// The variants of the Himeno sweep against the golden copy, on values that differ from cell to cell.
#include "stencil/himeno/variants.hpp"
#include "stencil/himeno/wavefront.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace kumihimo::himeno {
namespace {

constexpr std::int64_t sweeps = 7;

HimenoGrid grid_of(const Triple& points, bool varied = true) {
  GridShape shape{points, {}, {points[0] - 2, points[1] - 2, points[2] - 2}, 1};
  shape.varied = varied;
  return std::move(*HimenoGrid::make(shape));
}

double sum(const std::vector<double>& rows) { return std::accumulate(rows.begin(), rows.end(), 0.0); }

// gosa of each sweep.
std::vector<double> run(const HimenoVariant& variant, HimenoGrid& grid) {
  std::vector<double> found;
  for (std::int64_t s = 0; s < sweeps; ++s) {
    std::vector<double> rows(static_cast<std::size_t>(grid.rows()));
    variant.sweep(grid, grid.all(), rows.data());
    variant.finish(grid);
    found.push_back(sum(rows));
  }
  return found;
}

std::int64_t different_cells(const HimenoGrid& a, const HimenoGrid& b) {
  std::int64_t different = 0;
  const HimenoBox box = a.all();
  for (std::int64_t i = 0; i < box.end[0]; ++i)
    for (std::int64_t j = 0; j < box.end[1]; ++j)
      for (std::int64_t k = 0; k < box.end[2]; ++k) different += a.p[a.at(i, j, k)] != b.p[b.at(i, j, k)];
  return different;
}

void expect_same(const std::vector<double>& gosa, const std::vector<double>& golden) {
  for (std::size_t s = 0; s < gosa.size(); ++s) EXPECT_NEAR(gosa[s] / golden[s], 1, 1e-11) << "sweep " << s;
}

class HimenoOfATeam : public testing::TestWithParam<int> {
  void SetUp() override { ASSERT_TRUE(threads::use(GetParam()).ok()); }
  void TearDown() override { ASSERT_TRUE(threads::use(1).ok()); }
};
INSTANTIATE_TEST_SUITE_P(Threads, HimenoOfATeam, testing::Values(1, 3));

TEST_P(HimenoOfATeam, HasTheGoldenBits) {
  for (const Triple& points : {Triple{9, 12, 37}, Triple{3, 3, 3}, Triple{5, 20, 18}}) {
    HimenoGrid expected = grid_of(points);
    const std::vector<double> golden = run(variants().front(), expected);
    for (const HimenoVariant& variant : variants()) {
      HimenoGrid grid = grid_of(points);
      if (variant.upload) { // in two parts: an odd number of sweeps, then the rest
        const Result<std::unique_ptr<DeviceGrid>> device = variant.upload(grid);
        if (variant.name == "cuda" && !device) continue; // no GPU
        ASSERT_TRUE(device.ok());
        std::vector<double> gosa(sweeps);
        ASSERT_TRUE((*device)->run(3, gosa.data()).ok());
        ASSERT_TRUE((*device)->download().ok());
        ASSERT_TRUE((*device)->run(sweeps - 3, gosa.data() + 3).ok());
        ASSERT_TRUE((*device)->download().ok());
        expect_same(gosa, golden);
      } else if (variant.sweep) {
        expect_same(run(variant, grid), golden);
      } else {
        continue; // wavefront, below
      }
      EXPECT_EQ(different_cells(grid, expected), 0) << variant.name;
    }
  }
}

TEST_P(HimenoOfATeam, AWavefrontOfAnyTilesHasTheGoldenBits) {
  const Triple points{8, 23, 19};
  HimenoGrid expected = grid_of(points);
  const std::vector<double> golden = run(variants().front(), expected);
  for (const int levels : {1, 2, 3, 7})
    for (const std::int64_t rows : {1, 3, 8, 100}) {
      HimenoGrid grid = grid_of(points);
      std::vector<double> gosa;
      for (std::int64_t done = 0; done < sweeps; done += levels) {
        const int now = static_cast<int>(std::min<std::int64_t>(levels, sweeps - done));
        std::vector<double> of_rows(static_cast<std::size_t>(grid.rows() * now));
        run_wavefront(grid, {now, rows, {}}, of_rows.data());
        for (int level = 0; level < now; ++level) {
          const auto begin = of_rows.begin() + level * grid.rows();
          gosa.push_back(std::accumulate(begin, begin + grid.rows(), 0.0));
        }
      }
      expect_same(gosa, golden);
      EXPECT_EQ(different_cells(grid, expected), 0) << levels << " levels, " << rows << " rows";
    }
}

TEST(Himeno, EachOfThe19PointsCounts) {
  HimenoGrid grid = grid_of({5, 5, 5});
  std::vector<double> rows(static_cast<std::size_t>(grid.rows()));
  const auto middle = [&] {
    golden::sweep(grid, grid.all(), rows.data());
    return grid.next[grid.at(1, 1, 1)];
  };
  const float before = middle();
  int points = 0;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      for (int k = -1; k <= 1; ++k) {
        float& value = grid.p[grid.at(1 + i, 1 + j, 1 + k)];
        const float kept = value;
        value += 1;
        points += middle() != before;
        value = kept;
      }
  EXPECT_EQ(points, 19);
}

TEST(Himeno, ConvergesFromTheBenchmarksValues) {
  HimenoGrid grid = grid_of({17, 17, 33}, false);
  const std::vector<double> gosa = run(variants()[3], grid);
  for (std::size_t s = 1; s < gosa.size(); ++s) EXPECT_LT(gosa[s], gosa[s - 1]);
  EXPECT_EQ(grid.p[grid.at(-1, 4, 4)], 0.0F);
  EXPECT_EQ(grid.p[grid.at(15, 4, 4)], 1.0F); // the boundary stays
}

TEST(Himeno, SizesAreNamesOrNumbers) {
  EXPECT_EQ(*parse_size("M"), (Triple{128, 128, 256}));
  EXPECT_EQ(*parse_size("3x4x5"), (Triple{3, 4, 5}));
  EXPECT_EQ(*parse_size("64"), (Triple{64, 64, 64}));
  for (const char* text : {"", "m", "2x9x9", "9x9", "9x9x9x9", "9x9x-9", "9000"})
    EXPECT_FALSE(parse_size(text).ok()) << text;
}

} // namespace
} // namespace kumihimo::himeno
