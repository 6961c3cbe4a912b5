// Frequencies in a sphere: all of them, each once, and dealt evenly.
#include "fft/sphere.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace kumihimo::fft {
namespace {

TEST(Sphere, HasEachFrequencyWithinTheRadius) {
  for (const double radius : {0.0, 1.0, 2.5, 3.0}) {
    const Result<Sphere> sphere = Sphere::make({7, 9, 8}, radius);
    ASSERT_TRUE(sphere.ok());
    std::set<std::array<std::int64_t, 3>> found;
    for (const WaveColumn& column : sphere->columns)
      for (std::int64_t k = -column.reach; k <= column.reach; ++k)
        EXPECT_TRUE(found.insert({column.x, column.y, place_of(k, 8)}).second);
    std::int64_t expected = 0;
    for (std::int64_t x = -3; x <= 3; ++x)
      for (std::int64_t y = -3; y <= 3; ++y)
        for (std::int64_t z = -3; z <= 3; ++z)
          if (static_cast<double>(x * x + y * y + z * z) <= radius * radius) {
            ++expected;
            EXPECT_TRUE(found.contains({place_of(x, 7), place_of(y, 9), place_of(z, 8)}));
          }
    EXPECT_EQ(static_cast<std::int64_t>(found.size()), expected);
    EXPECT_EQ(sphere->coefficients(), expected);
  }
}

TEST(Sphere, ARadiusThatTheGridCannotHoldIsOneSentence) {
  EXPECT_EQ(Sphere::make({7, 9, 8}, 4).error().sentence(),
            "the radius must be from 0 to 3: a grid of 7 points holds no more frequencies (got 4)");
  EXPECT_FALSE(Sphere::make({7, 9, 8}, -1).ok());
  EXPECT_FALSE(Sphere::make({7, 9, 8}, std::nan("")).ok());
}

TEST(Sphere, RanksGetEachColumnOnceAndAboutAsManyCoefficients) {
  const Result<Sphere> sphere = Sphere::make({32, 32, 32}, 8);
  for (const std::int32_t ranks : {1, 3, 8, 500}) { // 500: more than columns
    std::set<std::int32_t> all;
    std::int64_t least = sphere->coefficients(), most = 0;
    for (const std::vector<std::int32_t>& own : deal_columns(*sphere, ranks)) {
      std::int64_t coefficients = 0;
      for (const std::int32_t column : own) {
        EXPECT_TRUE(all.insert(column).second);
        coefficients += sphere->columns[static_cast<std::size_t>(column)].coefficients();
      }
      least = std::min(least, coefficients);
      most = std::max(most, coefficients);
    }
    EXPECT_EQ(all.size(), sphere->columns.size());
    EXPECT_LE(most - least, 2 * 8 + 1); // the longest column
  }
}

TEST(Sphere, AColumnIsExpandedAndRestricted) {
  const WaveColumn column{0, 0, 2};
  const std::vector<Complex> coefficients = {-2, -1, 10, 1, 2};
  std::vector<Complex> line(7, 99), back(5);
  expand(column, coefficients.data(), line.data(), 7);
  EXPECT_EQ(line, (std::vector<Complex>{10, 1, 2, 0, 0, -2, -1}));
  restrict_to(column, line.data(), 7, back.data());
  EXPECT_EQ(back, coefficients);
}

} // namespace
} // namespace kumihimo::fft
