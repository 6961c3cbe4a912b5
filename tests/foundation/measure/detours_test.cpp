#include "measure/detours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kumihimo::measure {
namespace {

// Pieces of 10 us, each with what `taken` takes in it.
std::vector<std::int64_t> series(std::size_t pieces, const std::vector<std::pair<std::size_t, std::int64_t>>& taken,
                                 std::int64_t begin = 777) {
  std::vector<std::int64_t> lengths(pieces, 10'000), stamps{begin};
  for (const auto& [piece, ns] : taken) lengths[piece] += ns;
  for (const std::int64_t length : lengths) stamps.push_back(stamps.back() + length);
  return stamps;
}

TEST(Detours, AConstantSeriesHasNone) {
  const FixedWork found = find_detours(series(1000, {}));
  EXPECT_EQ(found.quantum_ns, 10'000);
  EXPECT_EQ(found.duration_ns, 10'000'000);
  EXPECT_EQ(found.pieces, 1000);
  EXPECT_TRUE(found.detours.empty());
}

// By hand: piece 3 begins at 30 us; piece 500 begins at 5000 us and the 5 us that piece 3 lost.
TEST(Detours, HaveTheirStartAndLength) {
  const FixedWork found = find_detours(series(1000, {{3, 5'000}, {500, 2'000'000}}));
  EXPECT_EQ(found.detours, (std::vector<Detour>{{30'000, 5'000}, {5'005'000, 2'000'000}}));
  EXPECT_EQ(found.duration_ns, 12'005'000);
}

TEST(Detours, AreMoreThanATenthOfTheQuantum) {
  EXPECT_TRUE(find_detours(series(1000, {{3, 1'000}})).detours.empty());
  EXPECT_EQ(find_detours(series(1000, {{3, 1'001}})).detours.size(), 1U);
}

// One piece at whose side the clock was set back makes no detour of the others.
TEST(Detours, ASinglePieceThatIsTooShortIsNoQuantum) {
  const FixedWork found = find_detours(series(1000, {{700, -9'000}, {10, 3'000}}));
  EXPECT_EQ(found.quantum_ns, 10'000);
  EXPECT_EQ(found.detours, (std::vector<Detour>{{100'000, 3'000}}));
}

TEST(Detours, TooFewStampsAreNoSeries) {
  EXPECT_EQ(find_detours({}).pieces, 0);
  EXPECT_EQ(find_detours(std::vector<std::int64_t>{5}).pieces, 0);
}

TEST(Detours, RandomOnesAreFoundAgainAmongJitter) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::pair<std::size_t, std::int64_t>> taken;
    for (std::size_t piece = 0; piece < 2000; ++piece)
      taken.emplace_back(piece, random() % 40 == 0 ? 2'000 + static_cast<std::int64_t>(random() % 1'000'000)
                                                   : static_cast<std::int64_t>(random() % 200));
    const FixedWork found = find_detours(series(2000, taken, 0));
    std::vector<std::int64_t> expected;
    for (const auto& each : taken)
      if (each.second >= 2'000) expected.push_back(each.second);
    ASSERT_EQ(found.detours.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found.detours[i].length, expected[i], 200);
    for (std::size_t i = 1; i < expected.size(); ++i) // as traces of noise want it
      EXPECT_GE(found.detours[i].start, found.detours[i - 1].start + found.detours[i - 1].length);
    EXPECT_LE(found.detours.back().start + found.detours.back().length, found.duration_ns);
  }
}

} // namespace
} // namespace kumihimo::measure
