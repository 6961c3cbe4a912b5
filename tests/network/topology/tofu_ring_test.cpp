// Rings laid into axes: by exhaustion over small ones.
#include "tofu_shapes.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kumihimo {
namespace {

using Level = TofuRing::Level;

Shape shape_of(const std::vector<Level>& levels) {
  std::vector<Axis> axes(6, Axis{1, false});
  for (const Level& level : levels) axes[level.axis] = {level.used, level.wraps};
  return Shape(axes);
}

// Every place once, neighbours beside each other, round the end too, and found again by its place.
void expect_ring(const TofuRing& ring) {
  const Shape shape = shape_of(ring.levels());
  std::set<TofuPlace> seen;
  TofuPlace first{}, before{};
  for (std::int32_t i = 0; i < ring.length(); ++i) {
    TofuPlace at{};
    ring.lay(i, at);
    ASSERT_TRUE(seen.insert(at).second) << shape.text() << " ring of " << ring.length() << " at " << i;
    ASSERT_EQ(ring.position(at), i) << shape.text() << " ring of " << ring.length();
    if (i == 0) first = at;
    ASSERT_TRUE(i == 0 || beside(shape, before, at)) << shape.text() << " ring of " << ring.length() << " at " << i;
    before = at;
  }
  ASSERT_TRUE(ring.length() == 1 || beside(shape, before, first)) << shape.text() << " ring of " << ring.length();
  for (std::int32_t place = 0; place < shape.places(); ++place) {
    TofuPlace at{};
    for (std::int32_t axis = 0; axis < 6; ++axis) at[axis] = shape.coordinate(place, axis);
    ASSERT_EQ(ring.position(at).has_value(), seen.contains(at)) << shape.text() << " ring of " << ring.length();
  }
}

TEST(TofuRing, WhateverItIsMadeOfNeighboursAreBesideEachOther) {
  int rings = 0;
  for (std::int32_t i = 1; i <= 5; ++i)
    for (std::int32_t j = 1; j <= 4; ++j)
      for (std::int32_t k = 1; k <= 4; ++k)
        for (std::int32_t l = 1; l <= 3; ++l)
          for (const bool wraps : {true, false}) {
            const std::vector<Level> levels{{0, i, wraps}, {1, j, false}, {3, k, false}, {4, l, wraps}};
            for (std::int32_t length = 1; length <= i * j * k * l; ++length)
              if (const auto ring = TofuRing::make(levels, length)) {
                expect_ring(*ring);
                ++rings;
              }
          }
  EXPECT_GT(rings, 3000);
}

// (y, b) holds every length with the fewest rows, (x, a) every even one; no odd one exists there, since the graph has
// two colours.
TEST(TofuRing, HoldsEveryLengthThatThereIs) {
  for (std::int32_t length = 2; length <= 60; ++length) {
    EXPECT_TRUE(TofuRing::make({{1, (length + 2) / 3, false}, {4, 3, true}}, length)) << length;
    EXPECT_EQ(TofuRing::make({{0, (length + 1) / 2, false}, {3, 2, false}}, length).has_value(), length % 2 == 0);
    const std::int32_t rows = (length + 5) / 6;
    EXPECT_TRUE(length % 2 == 1 || length < 6 ||
                TofuRing::make({{0, rows, false}, {3, 2, false}, {4, 3, true}}, length))
        << length;
  }
}

TEST(TofuRing, IsTheOneOfThePicture) {
  const TofuRing ring = *TofuRing::make({{1, 4, false}, {4, 3, true}}, 12);
  const int outer[] = {0, 1, 2, 3, 3, 3, 2, 2, 1, 1, 0, 0}, inner[] = {0, 0, 0, 0, 1, 2, 2, 1, 1, 2, 2, 1};
  for (std::int32_t i = 0; i < 12; ++i) {
    TofuPlace at{};
    ring.lay(i, at);
    EXPECT_EQ(at[1], outer[i]);
    EXPECT_EQ(at[4], inner[i]);
  }
}

TEST(TofuRing, SaysWhereThereIsNone) {
  EXPECT_FALSE(TofuRing::make({{0, 5, false}}, 5)) << "a mesh axis alone";
  EXPECT_TRUE(TofuRing::make({{0, 5, true}}, 5));
  EXPECT_FALSE(TofuRing::make({{0, 5, true}}, 4)) << "round the end leads through the fifth";
  EXPECT_TRUE(TofuRing::make({{0, 2, false}}, 2));
  EXPECT_FALSE(TofuRing::make({{0, 2, false}}, 3));
  EXPECT_FALSE(TofuRing::make({{0, 2, false}}, 0));
}

} // namespace
} // namespace kumihimo
