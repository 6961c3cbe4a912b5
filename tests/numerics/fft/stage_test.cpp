// Bricks, stages and the golden copy on one rank.
#include "fft/golden.hpp"
#include "fft/stage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

namespace kumihimo::fft {
namespace {

std::vector<Complex> random_values(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<Complex> values;
  for (std::int64_t i = 0; i < count; ++i) values.emplace_back(number(random), number(random));
  return values;
}

double largest_difference(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// A rank's box cut in random bricks with gaps.
struct CutBox {
  std::vector<Complex> memory;
  std::vector<Brick> bricks;
};

CutBox cut(const PointBox& box, std::size_t axis, std::mt19937& random) {
  CutBox made;
  std::vector<std::int64_t> ends = {box.begin[axis]};
  while (ends.back() < box.end[axis])
    ends.push_back(std::min<std::int64_t>(box.end[axis], ends.back() + 1 + static_cast<std::int64_t>(random() % 3)));
  std::int64_t size = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    Brick brick;
    brick.box = box;
    brick.box.begin[axis] = ends[i - 1];
    brick.box.end[axis] = ends[i];
    brick.row = brick.box.length(2) + static_cast<std::int64_t>(random() % 3);
    brick.plane = brick.row * brick.box.length(1) + static_cast<std::int64_t>(random() % 5);
    brick.band = brick.plane * brick.box.length(0);
    made.bricks.push_back(brick);
    size += 2 * brick.band;
  }
  made.memory.resize(static_cast<std::size_t>(size));
  Complex* first = made.memory.data();
  for (Brick& brick : made.bricks) {
    brick.first = first;
    first += 2 * brick.band;
  }
  return made;
}

TEST(Bricks, WhatIsScatteredIsGathered) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const PointBox box{{1, 2, 3}, {3 + static_cast<std::int64_t>(random() % 4), 6, 9}};
    const CutBox bricks = cut(box, random() % 3, random);
    const std::vector<Complex> values = random_values(box.points(), random());
    scatter(values.data(), box, 1, bricks.bricks);
    std::vector<Complex> found(values.size());
    gather(bricks.bricks, 1, box, found.data());
    EXPECT_EQ(found, values);
    for (std::int64_t x = box.begin[0]; x < box.end[0]; ++x) { // and a part of it alone
      const PointBox plane{{x, 3, 4}, {x + 1, 5, 8}};
      std::vector<Complex> part(static_cast<std::size_t>(plane.points()));
      gather(bricks.bricks, 1, plane, part.data());
      EXPECT_EQ(part[1], values[static_cast<std::size_t>(((x - 1) * 4 + 1) * box.length(2) + 2)]);
    }
  }
}

TEST(GoldenFft, AnImpulseHasAllFrequencies) {
  std::vector<Complex> grid(60);
  grid[0] = 1;
  golden::transform({3, 4, 5}, TransformDirection::forward, grid.data());
  EXPECT_LT(largest_difference(grid, std::vector<Complex>(60, 1.0)), 1e-15);
}

// A shift by one point turns frequency k by exp(-2 pi i k / n).
TEST(GoldenFft, AShiftTurnsFrequencies) {
  const Triple points = {3, 4, 5};
  std::vector<Complex> grid = random_values(60, 1), shifted(60);
  for (std::size_t i = 0; i < 60; ++i) shifted[i / 5 * 5 + (i + 1) % 5] = grid[i];
  golden::transform(points, TransformDirection::forward, grid.data());
  golden::transform(points, TransformDirection::forward, shifted.data());
  const std::vector<Complex> roots = golden::roots_of_unity(5, TransformDirection::forward);
  for (std::size_t i = 0; i < 60; ++i) grid[i] *= roots[i % 5];
  EXPECT_LT(largest_difference(grid, shifted), 1e-13);
}

TEST(GoldenFft, OneFrequencyIsThatOfTheWholeTransform) {
  const Triple points = {3, 4, 5};
  const std::vector<Complex> values = random_values(60, 1);
  std::vector<Complex> grid = values;
  golden::transform(points, TransformDirection::forward, grid.data());
  const auto row = [&](std::int64_t x, std::int64_t y) { return &values[static_cast<std::size_t>((x * 4 + y) * 5)]; };
  const Complex found = golden::frequency(points, whole_box(points), {2, 1, 3}, TransformDirection::forward, row);
  EXPECT_LT(std::abs(found - grid[(2 * 4 + 1) * 5 + 3]), 1e-13);
}

TEST(GoldenFft, ByFactorsIsBySum) {
  std::uint64_t seed = 1;
  for (const Triple& points : {Triple{1, 1, 1}, {2, 3, 4}, {7, 6, 5}, {8, 9, 11}, {1, 30, 49}, {64, 1, 17}})
    for (const TransformDirection direction : {TransformDirection::forward, TransformDirection::backward}) {
      std::vector<Complex> by_sum = random_values(points[0] * points[1] * points[2], seed++), by_factors = by_sum;
      golden::transform(points, direction, by_sum.data());
      golden::transform_by_factors(points, direction, by_factors.data());
      EXPECT_LT(largest_difference(by_sum, by_factors), 2e-13);
    }
}

TEST(GoldenFft, OtherHalfOfARealGridsSpectrumIsTheConjugate) {
  for (const Triple& points : {Triple{3, 4, 5}, {4, 3, 6}, {2, 2, 1}, {1, 5, 2}}) {
    std::vector<Complex> grid = random_values(points[0] * points[1] * points[2], 1);
    for (Complex& each : grid) each = each.real();
    golden::transform(points, TransformDirection::forward, grid.data());
    std::vector<Complex> half = grid;
    for (std::size_t i = 0; i < half.size(); ++i)
      if (static_cast<std::int64_t>(i) % points[2] >= half_spectrum(points[2])) half[i] = 99;
    golden::fill_other_half(points, half.data());
    EXPECT_LT(largest_difference(half, grid), 1e-13);
  }
}

// In any pieces of memory, of boxes that begin anywhere, in blocks of one line or many.
TEST(LineStage, HasTheGoldenCopysLines) {
  Result<std::unique_ptr<LineLibrary>> library = LineLibrary::open("");
  if (!library) GTEST_SKIP() << library.error().sentence();
  std::mt19937 random(3);
  const std::vector<std::vector<std::size_t>> all_axes = {{0}, {1}, {2}, {1, 2}};
  for (int i = 0; i < 80; ++i) {
    const std::vector<std::size_t>& axes = all_axes[random() % 4];
    PointBox box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool along = std::find(axes.begin(), axes.end(), axis) != axes.end();
      box.begin[axis] = along ? 0 : static_cast<std::int64_t>(random() % 3);
      box.end[axis] = box.begin[axis] + 1 + static_cast<std::int64_t>(random() % 11);
    }
    const TransformDirection direction = random() % 2 == 0 ? TransformDirection::forward : TransformDirection::backward;
    const std::int64_t block_bytes = i % 2 == 0 ? 1 : 2048;
    const Result<LineStage> stage = LineStage::make(**library, box, axes, direction, block_bytes);
    ASSERT_TRUE(stage.ok()) << stage.error().sentence();
    const CutBox from = cut(box, random() % 3, random), to = cut(box, random() % 3, random);
    std::vector<Complex> values = random_values(box.points(), random());
    scatter(values.data(), box, 1, from.bricks);
    stage->run({from.bricks}, {to.bricks}, 1, 0, stage->blocks());
    std::vector<Complex> found(values.size());
    gather(to.bricks, 1, box, found.data());

    Triple lengths = {box.length(0), box.length(1), box.length(2)};
    for (std::size_t axis = 0; axis < 3; ++axis) { // the golden copy transforms all axes: others are lines of one point
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) continue;
      for (std::int64_t number = 0; number < box.points() / lengths[axis]; ++number) {
        const std::int64_t stride = axis == 2 ? 1 : axis == 1 ? lengths[2] : lengths[1] * lengths[2];
        const std::int64_t first = number / stride * stride * lengths[axis] + number % stride;
        std::vector<Complex> line;
        for (std::int64_t j = 0; j < lengths[axis]; ++j)
          line.push_back(values[static_cast<std::size_t>(first + j * stride)]);
        golden::transform({1, 1, lengths[axis]}, direction, line.data());
        for (std::int64_t j = 0; j < lengths[axis]; ++j)
          values[static_cast<std::size_t>(first + j * stride)] = line[static_cast<std::size_t>(j)];
      }
    }
    EXPECT_LT(largest_difference(found, values), 1e-13);
  }
}

// Forward they are the first half of each complex line's spectrum, and back again the reals.
TEST(LineStage, OfRealsHasHalfOfTheSpectrum) {
  Result<std::unique_ptr<LineLibrary>> library = LineLibrary::open("");
  if (!library) GTEST_SKIP() << library.error().sentence();
  std::mt19937 random(4);
  for (int i = 0; i < 60; ++i) {
    const std::vector<std::size_t> axes = i % 2 == 0 ? std::vector<std::size_t>{2} : std::vector<std::size_t>{1, 2};
    const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random()) % end; };
    const std::int64_t x = below(3), y = i % 2 == 0 ? below(3) : 0, nz = 1 + below(12);
    const PointBox box{{x, y, 0}, {x + 1 + below(4), y + 1 + below(9), half_spectrum(nz)}};
    const std::int64_t block_bytes = i % 4 < 2 ? 1 : 2048;
    const Result<LineStage> there =
        LineStage::make_real(**library, box, nz, axes, TransformDirection::forward, block_bytes);
    const Result<LineStage> back =
        LineStage::make_real(**library, box, nz, axes, TransformDirection::backward, block_bytes);
    ASSERT_TRUE(there.ok() && back.ok());
    const PointBox real_box = there->real_box();
    std::vector<double> reals(static_cast<std::size_t>(2 * real_box.points())), again(reals.size()); // of two bands
    for (double& each : reals) each = std::uniform_real_distribution<double>(-1, 1)(random);
    const RealBrick in{real_box, reals.data()}, out{real_box, again.data()};
    const CutBox half = cut(box, random() % 3, random);
    there->run({{}, &in}, {half.bricks}, 1, 0, there->blocks());
    back->run({half.bricks}, {{}, &out}, 1, 0, back->blocks());

    std::vector<Complex> found(static_cast<std::size_t>(box.points()));
    gather(half.bricks, 1, box, found.data());
    const auto points = static_cast<std::size_t>(real_box.points());
    const std::int64_t ny = i % 2 == 0 ? 1 : box.length(1), grid = ny * nz; // transformed together
    double largest = 0;
    for (std::int64_t first = 0; first < real_box.points(); first += grid) {
      std::vector<Complex> whole;
      for (std::int64_t j = 0; j < grid; ++j) whole.emplace_back(reals[points + static_cast<std::size_t>(first + j)]);
      golden::transform({1, ny, nz}, TransformDirection::forward, whole.data());
      for (std::int64_t k = 0; k < ny * box.length(2); ++k) {
        const std::int64_t row = k / box.length(2), place = first / nz * box.length(2) + k;
        largest = std::max(largest, std::abs(found[static_cast<std::size_t>(place)] -
                                             whole[static_cast<std::size_t>(row * nz + k % box.length(2))]));
      }
    }
    EXPECT_LT(largest, 1e-13);
    for (std::size_t j = 0; j < points; ++j) {
      EXPECT_NEAR(again[points + j] / static_cast<double>(grid), reals[points + j], 1e-14);
      EXPECT_EQ(again[j], 0); // the other band
    }
  }
}

TEST(LineStage, AnEmptyBoxHasNoBlocks) {
  Result<std::unique_ptr<LineLibrary>> library = LineLibrary::open("");
  if (!library) GTEST_SKIP() << library.error().sentence();
  const Result<LineStage> stage =
      LineStage::make(**library, {{2, 0, 0}, {2, 4, 4}}, {1, 2}, TransformDirection::forward, 4096);
  ASSERT_TRUE(stage.ok());
  EXPECT_EQ(stage->blocks(), 0);
}

// In floats each part of a number is the nearest one.
TEST(Bricks, PointsGoThroughFloatsAndBack) {
  const std::vector<Complex> values = random_values(40, 1);
  std::vector<SingleComplex> floats(40);
  std::vector<Complex> back(40);
  const PointBox box = whole_box({2, 4, 5});
  const Brick brick = dense_brick(box, floats.data());
  scatter(values.data(), box, 0, {&brick, 1});
  gather({&brick, 1}, 0, box, back.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(back[i].real(), static_cast<double>(static_cast<float>(values[i].real())));
    EXPECT_LE(std::abs(back[i].imag() - values[i].imag()), 0x1p-24 * std::abs(values[i].imag()));
  }
  EXPECT_NE(back, values);
}

TEST(LineStage, MeasuresItsBlocksWhereAsked) {
  Result<std::unique_ptr<LineLibrary>> library = LineLibrary::open("");
  if (!library) GTEST_SKIP() << library.error().sentence();
  const PointBox box = whole_box({8, 16, 16});
  const Result<LineStage> stage = LineStage::make(**library, box, {2}, TransformDirection::forward, 4096);
  ASSERT_TRUE(stage.ok());
  std::vector<Complex> values = random_values(box.points(), 1);
  const Brick brick = dense_brick(box, values.data());
  StageTimes times;
  stage->run({{&brick, 1}}, {{&brick, 1}}, 0, 0, stage->blocks(), &times);
  EXPECT_GT(times.copies, 0);
  EXPECT_GT(times.lines, 0);
}

TEST(LineLibrary, KeepsWhatItHasMeasured) {
  Result<std::unique_ptr<LineLibrary>> opened = LineLibrary::open("");
  if (!opened) GTEST_SKIP() << opened.error().sentence();
  LineLibrary& library = **opened;
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "kumihimo-plans";
  std::filesystem::remove_all(folder);
  const std::string file = folder / "new" / "plans";
  EXPECT_FALSE(library.read_measurements(file));
  library.set_planning_seconds(1);
  ASSERT_TRUE(library.plan({3, 17, 23}, {1}, TransformDirection::forward).ok());
  EXPECT_GT(library.planning_seconds(), 0);
  ASSERT_TRUE(library.keep_measurements(file).ok());
  EXPECT_GT(std::filesystem::file_size(file), 0);
  EXPECT_TRUE(library.read_measurements(file));
  const auto before = std::filesystem::last_write_time(file);
  ASSERT_TRUE(library.keep_measurements(file).ok());
  EXPECT_EQ(std::filesystem::last_write_time(file), before); // nothing is new
  std::ofstream(file) << "(fftw-0.0";
  EXPECT_FALSE(library.read_measurements(file));
  ASSERT_TRUE(library.plan({3, 19, 29}, {1}, TransformDirection::forward).ok());
  const Status kept = library.keep_measurements("/proc/none/plans");
  ASSERT_FALSE(kept.ok());
  EXPECT_EQ(kept.error().sentence(), "the measured plans cannot be stored: /proc/none/plans; make the folder writable");
  std::filesystem::remove_all(folder);
}

// Each plan has what the ones before left.
TEST(LineLibrary, HoldsItsBudget) {
  Result<std::unique_ptr<LineLibrary>> library = LineLibrary::open("");
  if (!library) GTEST_SKIP() << library.error().sentence();
  (*library)->set_planning_seconds(0.05);
  for (const std::int64_t length : {97, 101, 103, 107, 109, 113, 127, 131})
    ASSERT_TRUE((*library)->plan({4, length, 128}, {1}, TransformDirection::forward).ok());
  EXPECT_LT((*library)->planning_seconds(), 2); // each of them takes longer where it is measured
}

TEST(LineLibrary, AFileThatIsNoneIsOneSentence) {
  const auto sentence = [](const char* path) { return LineLibrary::open(path).error().sentence(); };
  EXPECT_NE(sentence("/nowhere/libfft.so").find("the library of transforms must be one that can be loaded"),
            std::string::npos);
  EXPECT_NE(sentence("libm.so.6").find("must have FFTW's interface for doubles"), std::string::npos);
}

} // namespace
} // namespace kumihimo::fft
