// himeno over ranks: every variant against the golden copy, and checks that find errors.
#include "application/request.hpp"
#include "applications.hpp"
#include "himeno/check.hpp"
#include "himeno/local_grid.hpp"
#include "loopback/run_application.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kumihimo::himeno {
namespace {

using application::Processes, application::run_processes, application::Runtime;
using nlohmann::json;

Result<json> run(const json& task_text, std::int32_t ranks, const char* grid = nullptr, std::uint64_t seed = 1) {
  application::Communication communication;
  if (grid) communication.grid = grid;
  return application::run_application(task_text, applications(), ranks, seed, communication);
}

json task_of(std::string_view variant, std::string_view size, const json& options,
             const json& parameters = json::object()) {
  return {{"application", "himeno"},
          {"size", size},
          {"options", options},
          {"candidates", {{{"variant", variant}, {"parameters", parameters}}}}};
}

TEST(HimenoOverRanks, EveryVariantHasTheGoldenBits) {
  std::uint64_t seed = 1;
  for (const char* variant : {"golden", "directives", "swapped", "simd", "wavefront"})
    for (const auto& [ranks, grid] : {std::pair{1, "1x1x1"}, {2, "1x1x2"}, {4, "2x2x1"}, {6, "1x3x2"}, {8, "2x2x2"}}) {
      const json parameters =
          std::string_view(variant) == "wavefront" ? json{{"levels", 3}, {"rows", 2}} : json::object();
      const Result<json> found =
          run(task_of(variant, "11x13x14", {{"sweeps", "7"}, {"values", "varied"}}, parameters), ranks, grid, seed++);
      ASSERT_TRUE(found.ok()) << found.error().sentence();
      EXPECT_TRUE((*found)["checked"]["right"]) << variant << " " << grid << (*found)["checked"];
      EXPECT_GT((*found)["gosa"], 0);
    }
}

// Its copies to and from the device are rows of their own, outside the time of the sweeps.
TEST(HimenoOverRanks, AnAcceleratorHasTheGoldenBits) {
  const Result<json> found = run(task_of("offload", "11x13x14", {{"sweeps", "7"}, {"values", "varied"}}), 1);
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_TRUE((*found)["checked"]["right"]) << (*found)["checked"];
  std::vector<std::string> names;
  for (const json& kernel : (*found)["kernels"]) {
    EXPECT_EQ(kernel.contains("setup"), kernel["name"] != "sweep") << kernel;
    EXPECT_EQ(kernel["calls"], kernel["name"] == "sweep" ? 7 : 1) << kernel;
    names.push_back(kernel["name"]);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"sweep", "copy to the device", "copy from the device"}));
}

TEST(HimenoOverRanks, AWrongCellOrSumIsFound) {
  const auto [status, printed] = run_processes(2, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    std::unique_ptr<LocalGrid> local = TRY(LocalGrid::make({8, 8, 8}, true, variants()[3], {}, *runtime));
    const std::vector<double> gosa = TRY(local->run(3));
    ExpectedPressure expected = TRY(expected_of(local->grid().shape(), 3));
    EXPECT_TRUE(check(local->grid(), gosa[2], expected, *runtime)["right"]);
    EXPECT_FALSE(check(local->grid(), gosa[2] * (1 + 1e-12), expected, *runtime)["right"]);
    EXPECT_FALSE(check(local->grid(), gosa[1], expected, *runtime)["right"]);
    if (processes.rank() == 1) expected.p[5] = std::nextafter(expected.p[5], 9.0F);
    const json wrong = check(local->grid(), gosa[2], expected, *runtime);
    EXPECT_FALSE(wrong["right"]);
    EXPECT_EQ(wrong["different_cells"], 1);
    return Nothing{};
  });
  ASSERT_TRUE(status.ok()) << status.error().sentence();
}

// A rank's golden copy is larger than its part: after as many sweeps as the grid has points it is all of the grid.
TEST(HimenoOverRanks, TheGoldenCopyOfManySweepsNeedsTheWholeGrid) {
  const Triple points{66, 66, 130}, inside{64, 64, 128};
  const GridShape corner{.points = points, .first = {0, 0, 0}, .cells = {32, 32, 64}};
  const GridShape whole{.points = points, .first = {0, 0, 0}, .cells = inside};
  const double p = 4.0 * 32 * 32 * 64;
  EXPECT_EQ(bytes_of_expected(corner, 1000), HimenoGrid::bytes(whole) + p);
  EXPECT_LT(bytes_of_expected(corner, 1), 1.5 * HimenoGrid::bytes(corner));
}

TEST(HimenoOverRanks, LinesChangedAreCounted) {
  const auto lines = [](const char* variant) {
    return (*run(task_of(variant, "8", {{"sweeps", "1"}}), 1))["lines_changed"].get<int>();
  };
  EXPECT_EQ(lines("golden"), 0);
  EXPECT_EQ(lines("directives"), 2);
  EXPECT_GT(lines("simd"), lines("swapped"));
  EXPECT_GT(lines("wavefront"), lines("simd"));
}

TEST(HimenoOverRanks, WhatDoesNotFitIsRefused) {
  const json sweeps = {{"sweeps", "2"}};
  EXPECT_FALSE(run(task_of("simd", "8x8", sweeps), 1).ok());
  EXPECT_FALSE(run(task_of("simd", "8", {{"sweeps", "none"}}), 1).ok());
  EXPECT_FALSE(run(task_of("simd", "4", sweeps), 4, "4x1x1").ok());
  EXPECT_FALSE(run(task_of("offload", "8", sweeps), 2).ok());
  EXPECT_FALSE(run(task_of("wavefront", "8", sweeps, {{"levels", 6}}), 2).ok());
  EXPECT_TRUE(run(task_of("wavefront", "8", sweeps, {{"levels", 6}}), 1).ok());
}

} // namespace
} // namespace kumihimo::himeno
