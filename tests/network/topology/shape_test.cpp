#include "shapes.hpp"
#include "topology/shape.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kumihimo {
namespace {

TEST(Shape, ReadsTorusAndMeshAxes) {
  const Shape shape = *Shape::parse("4x3mx1");
  EXPECT_EQ(shape.axes(), (std::vector<Axis>{{4, true}, {3, false}, {1, true}}));
  EXPECT_EQ(shape.places(), 12);
  EXPECT_EQ(shape.stride(0), 3);
  EXPECT_EQ(shape.stride(1), 1);
  EXPECT_EQ(Shape::parse("48x54x32")->places(), 82944);
  EXPECT_EQ(Shape::parse("2147483647")->places(), 2147483647);
  EXPECT_EQ(Shape::parse("1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1")->dimensions(), 16);
}

TEST(Shape, RefusesWhatIsNoShape) {
  for (const char* text :
       {"",    " ", "x",   "4x",  "x4", "4xx3", "4 x 3", "4,3",   "0",    "4x0x2", "-4",    "4x-3", "+4",
        "4.5", "m", "4xm", "4mm", "4M", "4X3",  "0x10",  "torus", "4x3 ", " 4x3",  "4x3\n", "1e3",  "\xff"}) {
    const auto shape = Shape::parse(text);
    ASSERT_FALSE(shape.ok()) << text;
    EXPECT_NE(shape.error().sentence().find("'" + std::string(text) + "'"), std::string::npos);
    EXPECT_NE(shape.error().sentence().find("48x6x32"), std::string::npos) << "an example helps";
  }
  EXPECT_FALSE(Shape::parse(std::string_view("4\0x3", 4)).ok());
}

TEST(Shape, RefusesAbsurdlyLargeShapes) {
  for (const char* text : {"2147483648", "46341x46341", "99999x99999x99999", "2x2147483647", "99999999999999999999",
                           "1x99999999999999999999999999m", "65536x65536x65536x65536x65536"}) {
    const auto shape = Shape::parse(text);
    ASSERT_FALSE(shape.ok()) << text;
    EXPECT_NE(shape.error().sentence().find("2^31-1"), std::string::npos) << shape.error().sentence();
  }
  EXPECT_NE(Shape::parse("1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1").error().sentence().find("more than 16 axes"),
            std::string::npos);
}

TEST(Shape, TextReadsBack) {
  for (const Shape& shape : small_shapes(3, 4, 64)) {
    const auto again = Shape::parse(shape.text());
    ASSERT_TRUE(again.ok()) << shape.text();
    ASSERT_EQ(*again, shape);
  }
}

// Garbage gives an error or a shape that reads back; nothing else.
TEST(Shape, SurvivesGarbage) {
  std::mt19937 random(48632);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int n = static_cast<int>(random() % 9); n-- > 0;) text += "0123456789xxm- \xff"[random() % 16];
    const auto shape = Shape::parse(text);
    if (!shape) continue;
    ++read;
    ASSERT_GE(shape->places(), 1);
    ASSERT_EQ(*Shape::parse(shape->text()), *shape) << text;
  }
  EXPECT_GT(read, 100);
}

TEST(Shape, PlacesAndCoordinatesAreRowMajor) {
  for (const Shape& shape : small_shapes(4, 3, 81)) {
    Coordinates expected(shape.dimensions(), 0); // counted up like an odometer, the last axis fastest
    for (std::int32_t place = 0; place < shape.places(); ++place) {
      ASSERT_EQ(shape.coordinates(place), expected) << shape.text();
      ASSERT_EQ(shape.place(expected), place) << shape.text();
      for (std::int32_t a = 0; a < shape.dimensions(); ++a) ASSERT_EQ(shape.coordinate(place, a), expected[a]);
      for (std::int32_t a = shape.dimensions(); a-- > 0;) {
        if (++expected[a] < shape.length(a)) break;
        expected[a] = 0;
      }
    }
  }
}

TEST(Shape, ShiftsModuloTheLength) {
  for (const Shape& shape : small_shapes(3, 5, 60))
    for (std::int32_t place = 0; place < shape.places(); ++place)
      for (std::int32_t axis = 0; axis < shape.dimensions(); ++axis)
        for (std::int32_t steps = -11; steps <= 11; ++steps) {
          Coordinates c = shape.coordinates(place);
          const std::int32_t n = shape.length(axis);
          c[axis] = ((c[axis] + steps) % n + n) % n;
          ASSERT_EQ(shape.shifted(place, axis, steps), shape.place(c)) << shape.text();
        }
  EXPECT_EQ(Shape::parse("2147483647")->shifted(2147483646, 0, 2147483647), 2147483646) << "no overflow";
}

} // namespace
} // namespace kumihimo
