// fft3d over ranks: every variant is right by the check, and the check finds what is wrong.
#include "application/request.hpp"
#include "applications.hpp"
#include "fft/golden.hpp"
#include "fft3d/check.hpp"
#include "loopback/loopback_processes.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <complex>

namespace kumihimo::fft3d {
namespace {

using application::Processes, application::run_processes, application::Runtime;
using nlohmann::json;

bool has_library() { return fft::LineLibrary::open("").ok(); }

Result<json> run(std::string_view variant, std::string_view size, const json& options, std::int32_t ranks,
                 const json& parameters = json::object()) {
  const json text = {{"application", "fft3d"},
                     {"size", size},
                     {"options", options},
                     {"candidates", {{{"variant", variant}, {"parameters", parameters}}}}};
  const Result<application::ApplicationTask> task = application::parse_task(text.dump(), applications());
  if (!task) return task.error();
  json found;
  const auto [status, printed] = run_processes(ranks, false, 1, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
    application::ApplicationRequest request = task->request;
    request.candidate = task->candidates[0];
    Result<json> result = request.application->run(request, *runtime);
    if (Status s = runtime->agree_on(result); !s) return s;
    if (processes.rank() == 0) found = std::move(*result);
    return Nothing{};
  });
  if (!status) return status.error();
  return found;
}

TEST(FftOverRanks, EveryVariantIsRight) {
  if (!has_library()) GTEST_SKIP();
  for (const char* variant : {"golden", "packed", "fused", "overlapped", "window"})
    for (const auto& [ranks, grid] : {std::pair{1, "auto"}, {3, "slab"}, {4, "2x2"}, {6, "pencil"}}) {
      const Result<json> found =
          run(variant, "6x10x9", {{"decomposition", grid}, {"bands", "3"}, {"transforms", "2"}}, ranks,
              std::string_view(variant) == "golden" ? json::object() : json{{"block", 1}, {"at_once", 2}});
      ASSERT_TRUE(found.ok()) << variant << " " << grid << ": " << found.error().sentence();
      EXPECT_TRUE((*found)["checked"]["right"]) << variant << " " << grid << (*found)["checked"];
    }
}

// Beyond 2^15 points the check goes by single frequencies.
TEST(FftOverRanks, ALargeGridIsRight) {
  if (!has_library()) GTEST_SKIP();
  const Result<json> found = run("fused", "40x36x48", {{"transforms", "1"}}, 2);
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_TRUE((*found)["checked"]["right"]) << (*found)["checked"];
  EXPECT_LT((*found)["checked"]["error"], 2e-15);
}

TEST(FftOverRanks, AWrongValueIsFound) {
  for (const char* size : {"8", "40x36x48"}) {
    application::ApplicationRequest request;
    request.size = size;
    request.options = {{"bands", "1"},           {"transforms", "1"}, {"decomposition", "auto"},
                       {"exchange", "pairwise"}, {"planning", "0"},   {"library", ""}};
    const auto [status, printed] = run_processes(1, false, 1, [&](Processes& processes) -> Status {
      std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {}));
      const FftProblem problem = TRY(problem_of(request, 1));
      const fft::Triple& n = problem.pencils.points;
      const Grid values = TRY(values_of(problem, fft::whole_box(n)));
      Grid spectrum = TRY(values_of(problem, fft::whole_box(n))), back = TRY(Grid::zeros(values.size()));
      std::unique_ptr<fft::LineLibrary> library;
      fft::golden::transform(n, fft::TransformDirection::forward, spectrum.data());
      for (std::int64_t i = 0; i < values.size(); ++i) back[i] = values[i] * problem.points();
      EXPECT_TRUE(check(problem, spectrum, back, *runtime)["right"]);
      back[5] += 1e-9 * problem.points();
      EXPECT_FALSE(check(problem, spectrum, back, *runtime)["right"]);
      back[5] = std::complex<double>(std::nan(""), 0);
      EXPECT_FALSE(check(problem, spectrum, back, *runtime)["right"]);
      back[5] = values[5] * problem.points();
      std::swap(spectrum[3], spectrum[4]); // Parseval does not see it
      if (problem.points() <= 1 << 15) {
        EXPECT_FALSE(check(problem, spectrum, back, *runtime)["right"]);
      }
      std::swap(spectrum[3], spectrum[4]);
      for (fft::Complex& each : spectrum) each = std::conj(each); // nor this one: the inverse transform in its place
      EXPECT_FALSE(check(problem, spectrum, back, *runtime)["right"]);
      for (fft::Complex& each : spectrum) each = std::conj(each);
      spectrum[7] *= 2; // no frequency that the check of large grids computes
      EXPECT_FALSE(check(problem, spectrum, back, *runtime)["right"]);
      return Nothing{};
    });
    ASSERT_TRUE(status.ok()) << status.error().sentence();
  }
}

TEST(FftOverRanks, WrongOptionsAreOneSentence) {
  const auto sentence = [](const char* size, const json& options) {
    const Result<json> found = run("fused", size, options, 2);
    return found.ok() ? std::string("none") : found.error().sentence();
  };
  EXPECT_EQ(sentence("8", {{"bands", "0"}}), "bands must be a number from 1 to 65536 (got '0')");
  EXPECT_EQ(sentence("8", {{"transforms", "x"}}), "transforms must be a number from 1 to 1000000 (got 'x')");
  EXPECT_EQ(sentence("8", {{"planning", "-1"}}), "planning must be seconds from 0 to 600 (got '-1')");
  EXPECT_EQ(sentence("8", {{"decomposition", "3x1"}}), "rows x columns must be the number of ranks, 2 (got 3x1)");
  EXPECT_NE(sentence("8x8", {}).find("8x8"), std::string::npos);
}

} // namespace
} // namespace kumihimo::fft3d
