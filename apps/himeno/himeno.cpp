// The application himeno: one run with one variant, on all ranks.
#include "application/application.hpp"
#include "application/changed_lines.hpp"
#include "application/checkpoints.hpp"
#include "application/request.hpp"
#include "base/text_parsing.hpp"
#include "himeno/check.hpp"
#include "himeno/local_grid.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kumihimo::himeno {
namespace {

using application::ApplicationRequest, application::Runtime;
using nlohmann::json;

constexpr std::int64_t most_sweeps = 1'000'000;

Result<std::int64_t> sweeps_asked(const ApplicationRequest& request) {
  const std::string& word = request.option("sweeps");
  std::int64_t sweeps = 0;
  if (!read_number(word, sweeps) || sweeps < 1 || sweeps > most_sweeps)
    return wrong_value(fmt::format("sweeps must be a number from 1 to {}", most_sweeps), fmt::format("'{}'", word));
  return sweeps;
}

// In parts that end where a checkpoint is due. Gosa of the last sweep.
Result<double> run_sweeps(std::int64_t sweeps, LocalGrid& local, Runtime& runtime) {
  application::Checkpoints& checkpoints = runtime.checkpoints();
  double gosa = 0;
  std::int64_t done = 0;
  const auto state = [&](StateList& list) {
    list.number("sweeps", done);
    local.list_state(list);
  };
  while (done < sweeps) {
    if (checkpoints.is_asked())
      if (Status s = runtime.agree(local.download()); !s) return s.error();
    if (const bool went_back = TRY(checkpoints.at_iteration(done, state)); went_back)
      if (Status s = runtime.agree(local.take_state()); !s) return s.error();
    if (done >= sweeps) return application::nothing_left(done, sweeps);
    const std::int64_t part = std::min(sweeps - done, checkpoints.steps_to_next(done));
    const Result<std::vector<double>> found = local.run(part);
    if (Status s = runtime.agree_on(found); !s) return s.error();
    gosa = found->back();
    done += part;
  }
  return gosa;
}

Result<json> run(const ApplicationRequest& request, Runtime& runtime) {
  const Triple points = TRY(parse_size(request.size));
  const std::int64_t sweeps = std::min(TRY(sweeps_asked(request)), request.most_iterations);
  const HimenoVariant& variant = application::variant_of(request.candidate, variants());
  const std::int64_t begin = measure::now_ns();
  Result<std::unique_ptr<LocalGrid>> made =
      LocalGrid::make(points, request.option("values") == "varied", variant, request.candidate.parameters, runtime);
  if (Status s = runtime.agree_on(made); !s) return s.error();
  LocalGrid& local = **made;
  const bool needs_golden = request.checks && !runtime.has_shared();
  const double golden = needs_golden ? bytes_of_expected(local.grid().shape(), sweeps) : 0; // beside the grid
  if (Status s = runtime.agree(runtime.check_memory(golden)); !s) return s.error();
  const double setup = measure::seconds_since(begin);

  runtime.processes().barrier();
  const std::int64_t start = measure::now_ns();
  const double gosa = TRY(run_sweeps(sweeps, local, runtime));
  const std::vector<double> seconds = runtime.processes().largest({measure::seconds_since(start), setup});
  if (Status s = runtime.agree(local.download()); !s) return s.error();

  const double cells =
      static_cast<double>(points[0] - 2) * static_cast<double>(points[1] - 2) * static_cast<double>(points[2] - 2);
  const auto launched = static_cast<double>(runtime.checkpoints().made(sweeps));
  json found = {{"seconds", seconds[0]},
                {"setup_seconds", seconds[1]},
                {"iterations", sweeps},
                {"planned_iterations", TRY(sweeps_asked(request))},
                {"residual", nullptr},
                {"converged", true},
                {"history", json::array()},
                {"unknowns", cells},
                {"grid", local.ranks().ranks},
                {"gosa", gosa},
                {"seconds_per_step", seconds[0] / launched},
                {"rate", cells * flops_of_cell * launched / seconds[0]},
                {"rate_unit", "FLOPS"},
                {"lines_changed", application::changed_lines(variant.files, &source_of)},
                {"by_hand", variant.is_written_by_hand},
                {"step_bytes", bytes_of_cell * cells},
                {"facts", {{"gosa", gosa}}},
                {"kernels", to_json(local.times(), runtime.processes())}};
  if (request.checks) {
    const std::shared_ptr<ExpectedPressure> expected =
        TRY(runtime.shared<ExpectedPressure>([&] { return expected_of(local.grid().shape(), sweeps); }));
    found["checked"] = check(local.grid(), gosa, *expected, runtime);
  }
  return found;
}

constexpr std::string_view kinds_of_values[] = {"benchmark", "varied"};
constexpr application::ApplicationOption options[] = {
    {"sweeps", "number of sweeps", "N", "20"},
    {"values", "initial values: the benchmark's, or varied ones that show a wrong neighbour", "VALUES", "benchmark",
     kinds_of_values}};
// Fewer planes along i, of whole rows and planes.
std::vector<application::ProblemShare> shares(std::string_view size) {
  const Result<Triple> points = parse_size(std::string(size));
  if (!points || (*points)[0] < 64) return {};
  return {{fmt::format("{}x{}x{}", (*points)[0] / 4, (*points)[1], (*points)[2]), 4, 1}};
}

constexpr std::string_view usual[] = {"wavefront", "simd"};

} // namespace

application::Application description() {
  return {
      .name = "himeno",
      .summary = "Himeno benchmark: Jacobi sweeps of a 19-point stencil, float32",
      .paper = "R. Himeno, the Himeno benchmark (RIKEN, 1996)",
      .sizes = "XS, S, M, L, XL or points along i, j and k: 128x128x256 (k contiguous)",
      .default_size = "S",
      .golden_hash = KUMIHIMO_GOLDEN_HASH,
      .variants = application::descriptions(variants()),
      .methods = {},
      .options = options,
      .shares = &shares,
      .sample = 8, // as many as the usual wavefront fuses, twice
      .usual = usual,
      .restart_on = [](const ApplicationRequest&) { return application::RestartOn::any_variant; },
      .run = &run,
  };
}

} // namespace kumihimo::himeno
