// The variants of the FDTD steps against the golden copy.
#include "stencil/fdtd2d/row.hpp"
#include "stencil/fdtd2d/variants.hpp"
#include "stencil/fdtd2d/wavefront.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kumihimo::fdtd2d {
namespace {

constexpr std::int64_t steps = 90;

template <class T>
Fields<T> fields_of(const Pair& points, std::int64_t layer) {
  FieldShape shape;
  shape.points = shape.cells = points;
  shape.layer = layer;
  return std::move(*Fields<T>::make(shape));
}

template <class T>
void run(const FdtdVariant& variant, const Fields<T>& f, const WaveSource& source) {
  const FieldKernels<T>& kernels = variant.kernels<T>();
  const NodeBox e = nodes_of_e(f.shape()), h = places_of_h(e);
  for (std::int64_t s = 0; s < steps; ++s) {
    kernels.update_h(f, h);
    kernels.update_e(f, e);
    f.ez[f.at(source.node[0], source.node[1])] += static_cast<T>(source.added(s, f.shape().courant));
  }
}

template <class T>
std::int64_t different(const Fields<T>& a, const Fields<T>& b) {
  std::int64_t count = 0;
  for (const auto& [x, y] : {std::pair{a.ez, b.ez}, {a.hx, b.hx}, {a.hy, b.hy}})
    for (std::int64_t n = a.at(0, 0); n < a.at(0, a.shape().cells[1]); ++n) count += x[n] != y[n];
  return count;
}

template <class T>
double largest(const Fields<T>& f) {
  double found = 0;
  for (std::int64_t n = 0; n < f.size(); ++n) found = std::max(found, std::abs(static_cast<double>(f.ez[n])));
  return found;
}

template <class T>
void expect_golden_bits() {
  const WaveSource source{{14, 20}, 8};
  for (const auto& [points, layer] : {std::pair{Pair{33, 41}, 5}, {Pair{50, 30}, 0}, {Pair{40, 40}, 13}}) {
    const Fields<T> expected = fields_of<T>(points, layer);
    run(variants().front(), expected, source);
    ASSERT_GT(largest(expected), 1e-3);
    for (const FdtdVariant& variant : variants()) {
      if (variant.is_wavefront()) continue;
      const Fields<T> f = fields_of<T>(points, layer);
      if (const auto upload = variant.kernels<T>().upload) { // in two parts, as pictures have them
        const Result<std::unique_ptr<DeviceFields>> device = upload(f, source);
        if (variant.name == "cuda" && !device) continue; // no GPU
        ASSERT_TRUE(device.ok());
        ASSERT_TRUE((*device)->run(0, steps / 3).ok());
        ASSERT_TRUE((*device)->download().ok());
        ASSERT_TRUE((*device)->run(steps / 3, steps - steps / 3).ok());
        ASSERT_TRUE((*device)->download().ok());
      } else {
        run(variant, f, source);
      }
      EXPECT_EQ(different(f, expected), 0) << variant.name;
    }
    for (const int levels : {1, 4, 11})
      for (const std::int64_t columns : {16, 17, 21, 25, 33, 1000}) { // 17, 25, 33: tiles that begin at place 1
        const Fields<T> f = fields_of<T>(points, layer);
        for (std::int64_t done = 0; done < steps; done += levels)
          run_wavefront(f, {static_cast<int>(std::min<std::int64_t>(levels, steps - done)), columns, {}}, source, done);
        EXPECT_EQ(different(f, expected), 0) << levels << " levels, " << columns << " columns";
      }
  }
}

// Each instruction set that this processor has, in two passes and in one.
template <class T>
void expect_golden_bits_of_rows() {
  ASSERT_EQ(row_sets().front()->instructions, "baseline");
  for (const auto& [points, layer] : {std::pair{Pair{37, 20}, 4}, {Pair{64, 20}, 9}, {Pair{19, 23}, 0}}) {
    const Fields<T> expected = fields_of<T>(points, layer);
    const NodeBox e = nodes_of_e(expected.shape()), h = places_of_h(e);
    const WaveSource source{{7, 6}, 8};
    run(variants().front(), expected, source);
    for (const RowSet* const set : row_sets())
      for (const bool in_one_pass : {false, true}) {
        const RowKernels<T>& rows = [&]() -> const auto& {
          if constexpr (sizeof(T) == sizeof(float))
            return set->of_float;
          else
            return set->of_double;
        }
        ();
        const Fields<T> f = fields_of<T>(points, layer);
        for (std::int64_t s = 0; s < steps; ++s) {
          for (std::int64_t y = h.begin[1]; y < h.end[1]; ++y)
            if (in_one_pass && y >= e.begin[1])
              rows.both(f, y, h.begin[0], h.end[0]);
            else
              rows.h(f, y, h.begin[0], h.end[0]);
          for (std::int64_t y = e.begin[1]; !in_one_pass && y < e.end[1]; ++y) rows.e(f, y, e.begin[0], e.end[0]);
          f.ez[f.at(7, 6)] += static_cast<T>(source.added(s, f.shape().courant));
        }
        EXPECT_EQ(different(f, expected), 0) << set->instructions << (in_one_pass ? ", one pass" : ", two passes");
      }
  }
}
TEST(Fdtd2dRows, HaveTheGoldenBits) {
  expect_golden_bits_of_rows<float>();
  expect_golden_bits_of_rows<double>();
}

// Parts of a grid that lie before, within and behind the inner side of a layer, with any number of ghosts.
TEST(Fdtd2dRows, HaveTheGoldenBitsInAnyPart) {
  std::mt19937 random(7);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int i = 0; i < 80; ++i) {
    FieldShape shape;
    shape.points = {64, 48};
    shape.layer = draw(0, 24);
    shape.ghosts = draw(1, 5);
    for (std::size_t a = 0; a < 2; ++a) {
      shape.first[a] = draw(0, 1) * draw(0, shape.points[a] - 6);
      shape.cells[a] = draw(5, shape.points[a] - shape.first[a]);
    }
    const Fields<float> expected = std::move(*Fields<float>::make(shape)), f = std::move(*Fields<float>::make(shape));
    for (const auto& [x, y] : {std::pair{expected.ez, f.ez}, {expected.hx, f.hx}, {expected.hy, f.hy}})
      for (std::int64_t n = 0; n < f.size(); ++n) x[n] = y[n] = static_cast<float>(draw(-1000, 1000)) * 1e-3F;
    const NodeBox e = nodes_of_e(shape), h = places_of_h(e);
    if (e.begin[0] == 1)
      for (std::int64_t y = 0; y < shape.cells[1]; ++y) expected.ez[f.at(0, y)] = f.ez[f.at(0, y)] = 0;
    for (int s = 0; s < 3; ++s) {
      golden::update_h(expected, h);
      golden::update_e(expected, e);
      for (std::int64_t y = h.begin[1]; y < h.end[1]; ++y) rows<float>().h(f, y, h.begin[0], h.end[0]);
      for (std::int64_t y = e.begin[1]; y < e.end[1]; ++y) rows<float>().e(f, y, e.begin[0], e.end[0]);
    }
    ASSERT_EQ(different(f, expected), 0) << shape.first[0] << " + " << shape.cells[0] << ", layer " << shape.layer;
  }
}

class Fdtd2dOfATeam : public testing::TestWithParam<int> {
  void SetUp() override { ASSERT_TRUE(threads::use(GetParam()).ok()); }
  void TearDown() override { ASSERT_TRUE(threads::use(1).ok()); }
};
INSTANTIATE_TEST_SUITE_P(Threads, Fdtd2dOfATeam, testing::Values(1, 3));

TEST_P(Fdtd2dOfATeam, HasTheGoldenBitsInFloat32) { expect_golden_bits<float>(); }
TEST_P(Fdtd2dOfATeam, HasTheGoldenBitsInFloat64) { expect_golden_bits<double>(); }

TEST(Fdtd2d, TheWallsStay) {
  const Fields<double> f = fields_of<double>({20, 20}, 0);
  run(variants().front(), f, {{3, 3}, 6});
  for (std::int64_t n = 0; n < 20; ++n) {
    EXPECT_EQ(f.ez[f.at(0, n)], 0);
    EXPECT_EQ(f.ez[f.at(n, 0)], 0);
    EXPECT_EQ(f.ez[f.at(20, n)], 0);
  }
}

} // namespace
} // namespace kumihimo::fdtd2d
