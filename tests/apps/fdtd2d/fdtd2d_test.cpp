// fdtd2d over ranks: every variant against the golden copy, the golden copy against theory, checks that find errors.
#include "application/request.hpp"
#include "applications.hpp"
#include "fdtd2d/check.hpp"
#include "fdtd2d/frames.hpp"
#include "fdtd2d/local_fields.hpp"
#include "fdtd2d/physics.hpp"
#include "loopback/loopback_processes.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace kumihimo::fdtd2d {
namespace {

using application::Processes, application::run_processes, application::Runtime;
using nlohmann::json;

WaveProblem small_problem(const Pair& points, bool is_mode, bool is_float32, std::int64_t steps) {
  WaveProblem problem;
  problem.whole.points = problem.whole.cells = points;
  problem.whole.layer = is_mode ? 0 : 6;
  problem.is_mode = is_mode;
  problem.is_float32 = is_float32;
  problem.steps = steps;
  if (!is_mode) problem.source = {{points[0] / 2, points[1] / 2}, 10};
  return problem;
}

// Nodes that differ from the golden copy's, after the variant's steps on ranks.
template <class T>
Result<double> different(const WaveProblem& problem, const FdtdVariant& variant, const ParameterValues& parameters,
                         std::int32_t ranks, const char* grid, std::uint64_t seed) {
  double found = -1;
  const auto [status, printed] = run_processes(ranks, seed % 2 == 0, seed, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {"recursive_doubling", grid}));
    auto local = TRY(LocalFields<T>::make(problem, variant, parameters, *runtime));
    if (Status s = local->run(problem.steps / 3); !s) return s; // in parts, as pictures have them
    if (Status s = local->run(problem.steps - problem.steps / 3); !s) return s;
    if (Status s = local->download(); !s) return s;
    application::OneProcess one;
    std::unique_ptr<Runtime> alone = TRY(Runtime::make(one, {}));
    auto golden = TRY(LocalFields<T>::make(problem, variants().front(), {}, *alone));
    if (Status s = golden->run(problem.steps); !s) return s;
    ExpectedFields<T> expected;
    for (std::int64_t y = 0; y < problem.whole.points[1]; ++y)
      for (std::int64_t x = 0; x < problem.whole.points[0]; ++x)
        expected.ez.push_back(golden->fields().ez[golden->fields().at(x, y)]);
    const json checked = check(problem, local->fields(), expected, *runtime);
    if (problem.is_mode) {
      EXPECT_TRUE(checked["right"]) << checked;
    }
    if (processes.rank() == 0) found = checked["different_nodes"];
    return Nothing{};
  });
  if (!status) return status.error();
  return found;
}

TEST(Fdtd2dOverRanks, EveryVariantHasTheGoldenBits) {
  std::uint64_t seed = 1;
  for (const FdtdVariant& variant : variants()) {
    if (variant.of_float.upload) continue;
    ParameterValues parameters;
    if (variant.is_wavefront()) parameters = {{"levels", 5}, {"columns", 24}};
    for (const auto& [ranks, grid] : {std::pair{2, "2x1x1"}, {2, "1x2x1"}, {6, "3x2x1"}})
      for (const bool is_mode : {false, true}) {
        const WaveProblem of_float = small_problem({37, 31}, is_mode, true, 60),
                          of_double = small_problem({37, 31}, is_mode, false, 60);
        const Result<double> a = different<float>(of_float, variant, parameters, ranks, grid, seed++),
                             b = different<double>(of_double, variant, parameters, ranks, grid, seed++);
        ASSERT_TRUE(a.ok() && b.ok());
        EXPECT_EQ(*a, 0) << variant.name << " " << grid;
        EXPECT_EQ(*b, 0) << variant.name << " " << grid;
      }
  }
}

TEST(Fdtd2dOverRanks, AnAcceleratorHasTheGoldenBits) {
  const auto offload = std::ranges::find(variants(), "offload", &FdtdVariant::name);
  ASSERT_NE(offload, variants().end());
  for (const bool is_mode : {false, true}) {
    const Result<double> found =
        different<float>(small_problem({37, 31}, is_mode, true, 60), *offload, {}, 1, "1x1x1", 1);
    ASSERT_TRUE(found.ok()) << found.error().sentence();
    EXPECT_EQ(*found, 0);
  }
}

// Ranks of 6 or 7 nodes along an axis, of which the first and the last two lie within the layer.
TEST(Fdtd2dOverRanks, RanksWithinTheLayerHaveTheGoldenBits) {
  std::uint64_t seed = 100;
  for (const FdtdVariant& variant : variants()) {
    if (variant.of_float.upload) continue;
    ParameterValues parameters;
    if (variant.is_wavefront()) parameters = {{"levels", 5}, {"columns", 24}};
    for (const char* grid : {"6x1x1", "1x6x1"}) {
      WaveProblem problem = small_problem({37, 37}, false, true, 60);
      problem.whole.layer = 14;
      const Result<double> found = different<float>(problem, variant, parameters, 6, grid, seed++);
      ASSERT_TRUE(found.ok());
      EXPECT_EQ(*found, 0) << variant.name << " " << grid;
    }
  }
}

TEST(Fdtd2d, FollowsTheDispersionRelationOfTheGridAndNoOther) {
  application::OneProcess one;
  std::unique_ptr<Runtime> runtime = *Runtime::make(one, {});
  const WaveProblem problem = small_problem({40, 30}, true, false, 300);
  auto local = *LocalFields<double>::make(problem, variants().front(), {}, *runtime);
  ASSERT_TRUE(local->run(problem.steps).ok());
  const Frequencies w = frequencies_of(problem.whole, problem.mode);
  const double t = 300 * problem.whole.courant;
  // The node where the mode is largest.
  double largest = 0, at = 0;
  for (std::int64_t y = 1; y < 30; ++y)
    for (std::int64_t x = 1; x < 40; ++x) {
      const double mode =
          std::sin(3 * M_PI * static_cast<double>(x) / 40) * std::sin(2 * M_PI * static_cast<double>(y) / 30);
      if (std::abs(mode) <= largest) continue;
      largest = std::abs(mode);
      at = local->fields().ez[local->fields().at(x, y)] / mode;
    }
  EXPECT_NEAR(at, std::cos(w.of_grid * t), 1e-12);
  EXPECT_GT(std::abs(at - std::cos(w.exact * t)), 1e-3);
  EXPECT_LT(w.of_grid, w.exact);
}

TEST(Fdtd2d, TheFieldOfALineCurrentIsOfSecondOrder) {
  const Result<double> coarse = analytic_error(10, 0.5, 1), fine = analytic_error(10, 0.5, 2);
  ASSERT_TRUE(coarse.ok() && fine.ok());
  EXPECT_LT(*coarse, analytic_bound);
  EXPECT_NEAR(*coarse / *fine, 4, 0.4);
}

TEST(Fdtd2d, TheFieldInFreeSpaceIsCausalAndFallsWithTheDistance) {
  const WaveSource source{{0, 0}, 20};
  EXPECT_EQ(field_in_free_space(source, 50, 49), 0);
  const auto peak = [&](double r) {
    double found = 0;
    for (double t = r; t < r + 100; t += 0.25) found = std::max(found, std::abs(field_in_free_space(source, r, t)));
    return found;
  };
  EXPECT_NEAR(peak(400) / peak(1600), 2, 0.02); // cylindrical waves: 1 / sqrt(r)
}

TEST(Fdtd2d, TheLayerReflectsLessThanSixtyDecibels) {
  const Result<double> ten = reflection(10, 0.5), five = reflection(5, 0.5), none = reflection(0, 0.5);
  ASSERT_TRUE(ten.ok() && five.ok() && none.ok());
  EXPECT_LT(*ten, reflection_bound);
  EXPECT_GT(*five, *ten);
  EXPECT_GT(*none, 0.3);
}

// The time of the experiment does not depend on the step: the pulse reaches the layer.
TEST(Fdtd2d, TheReflectionIsThatOfThePulseWithAnyStep) {
  const double usual = *reflection(10, 0.5);
  for (const double courant : {0.1, 0.7}) {
    EXPECT_GT(*reflection(10, courant), 0.1 * usual) << courant;
    EXPECT_LT(*reflection(10, courant), 10 * usual) << courant;
  }
}

TEST(Fdtd2d, WrongFieldsAreFound) {
  application::OneProcess one;
  std::unique_ptr<Runtime> runtime = *Runtime::make(one, {});
  for (const bool is_mode : {false, true}) {
    const WaveProblem problem = small_problem({24, 24}, is_mode, true, 20);
    auto local = *LocalFields<float>::make(problem, variants()[2], {}, *runtime);
    ASSERT_TRUE(local->run(problem.steps).ok());
    ExpectedFields<float> expected = *expected_of<float>(problem);
    EXPECT_TRUE(check(problem, local->fields(), expected, *runtime)["right"]);
    if (!is_mode) {
      ExpectedFields<float> far = expected;
      far.analytic_error = 2 * analytic_bound;
      EXPECT_FALSE(check(problem, local->fields(), far, *runtime)["right"]);
    }
    expected.ez[300] += 1e-6F;
    EXPECT_FALSE(check(problem, local->fields(), expected, *runtime)["right"]);
    if (is_mode) { // a step too many is another amplitude
      ASSERT_TRUE(local->run(1).ok());
      const json late = check(problem, local->fields(), expected, *runtime);
      EXPECT_GT(late["error"].get<double>(), late["bound"].get<double>());
    }
  }
}

TEST(Fdtd2d, PicturesHaveTheSamplesOfAllRanks) {
  const auto pictures_on = [](std::int32_t ranks) {
    json found;
    const auto [status, printed] = run_processes(ranks, false, 1, [&](Processes& processes) -> Status {
      std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
      const WaveProblem problem = small_problem({40, 30}, false, true, 40);
      auto local = TRY(LocalFields<float>::make(problem, variants()[2], {}, *runtime));
      Frames frames(problem.whole.points);
      for (int i = 1; i <= 2; ++i) {
        if (Status s = local->run(20); !s) return s;
        frames.add(local->fields(), 20 * i, *runtime);
      }
      if (processes.rank() == 0) found = frames.json();
      return Nothing{};
    });
    EXPECT_TRUE(status.ok());
    return found;
  };
  const json one = pictures_on(1);
  EXPECT_EQ(one, pictures_on(3));
  EXPECT_EQ(one["steps"], (json{20, 40}));
  EXPECT_EQ(one["frames"][0].get<std::string>().size(), 1600u); // 40 x 30 bytes in base64
  EXPECT_NE(one["frames"][0], one["frames"][1]);
}

TEST(Fdtd2d, WhatDoesNotFitIsRefused) {
  const auto refused = [](const char* size, const json& options) {
    const json text = {
        {"application", "fdtd2d"}, {"size", size}, {"options", options}, {"candidates", {{{"variant", "simd"}}}}};
    const Result<application::ApplicationTask> task = application::parse_task(text.dump(), applications());
    return !task.ok() || !fdtd2d::problem_of(task->request).ok();
  };
  EXPECT_FALSE(refused("64x48", json::object()));
  EXPECT_TRUE(refused("64x", json::object()));
  EXPECT_TRUE(refused("4", json::object()));
  for (const auto& [name, value] : {std::pair{"steps", "0"},
                                    {"steps", "x"},
                                    {"courant", "0.71"},
                                    {"courant", "nan"},
                                    {"layer", "-1"},
                                    {"layer", "31"},
                                    {"wavelength", "1"},
                                    {"source", "3"},
                                    {"source", "2x30"},
                                    {"frames", "101"},
                                    {"type", "float16"}})
    EXPECT_TRUE(refused("64x64", {{name, value}})) << name << " " << value;
}

} // namespace
} // namespace kumihimo::fdtd2d
