// The application fdtd2d: one run with one variant, on all ranks.
#include "application/application.hpp"
#include "application/changed_lines.hpp"
#include "application/checkpoints.hpp"
#include "fdtd2d/check.hpp"
#include "fdtd2d/frames.hpp"
#include "fdtd2d/local_fields.hpp"
#include "fdtd2d/physics.hpp"
#include "fdtd2d/problem.hpp"

#include <nlohmann/json.hpp>

namespace kumihimo::fdtd2d {
namespace {

using application::ApplicationRequest, application::Runtime;
using nlohmann::json;

// In parts that end where a picture is taken or a checkpoint is due. Pictures, and copies from an accelerator for both,
// are not in the time; checkpoints are.
template <class T>
Result<double> run_steps(const WaveProblem& problem, LocalFields<T>& local, Frames& frames, Runtime& runtime) {
  application::Checkpoints& checkpoints = runtime.checkpoints();
  const std::int64_t parts = std::clamp<std::int64_t>(problem.frames, 1, problem.steps);
  const auto state = [&](StateList& list) {
    local.list_state(list);
    frames.list_state(list);
  };
  double seconds = 0;
  while (local.done() < problem.steps) {
    runtime.processes().barrier();
    const std::int64_t start = measure::now_ns();
    if (const bool went_back = TRY(checkpoints.at_iteration(local.done(), state)); went_back)
      if (Status s = local.take_state(); !s) return s.error();
    if (local.done() >= problem.steps) return application::nothing_left(local.done(), problem.steps);
    std::int64_t next = problem.steps; // the end of the part
    for (std::int64_t part = parts - 1; part >= 0; --part)
      if (const std::int64_t end = threads::part(problem.steps, part, parts).end; end > local.done()) next = end;
    const std::int64_t end = next;
    next = std::min(next, local.done() + std::min(problem.steps, checkpoints.steps_to_next(local.done())));
    const Status status = local.run(next - local.done());
    seconds += measure::seconds_since(start);
    if (Status s = runtime.agree(status); !s) return s.error();
    if (Status s = runtime.agree(local.download()); !s) return s.error();
    if (problem.frames > 0 && next == end) frames.add(local.fields(), end, runtime);
  }
  return seconds;
}

template <class T>
Result<json> run_with(const WaveProblem& problem, const ApplicationRequest& request, Runtime& runtime) {
  const FdtdVariant& variant = application::variant_of(request.candidate, variants());
  const std::int64_t begin = measure::now_ns();
  Result<std::unique_ptr<LocalFields<T>>> made =
      LocalFields<T>::make(problem, variant, request.candidate.parameters, runtime);
  if (Status s = runtime.agree_on(made); !s) return s.error();
  LocalFields<T>& local = **made;
  const bool needs_golden = request.checks && !runtime.has_shared(); // beside the fields: the whole grid, and its Ez
  const double nodes = static_cast<double>(problem.whole.points[0]) * static_cast<double>(problem.whole.points[1]);
  const double golden = needs_golden ? Fields<T>::bytes(problem.whole) + sizeof(T) * nodes : 0;
  if (Status s = runtime.agree(runtime.check_memory(golden)); !s) return s.error();
  const double setup = measure::seconds_since(begin);
  Frames frames(problem.whole.points);
  const double took = TRY(run_steps(problem, local, frames, runtime));
  const std::vector<double> seconds = runtime.processes().largest({took, setup});

  const auto launched = static_cast<double>(runtime.checkpoints().made(problem.steps));
  json facts = json::object();
  if (problem.is_mode) {
    const Frequencies w = frequencies_of(problem.whole, problem.mode);
    facts["phase_velocity"] = w.of_grid / w.exact;
  }
  json found = {{"seconds", seconds[0]},
                {"setup_seconds", seconds[1]},
                {"iterations", problem.steps},
                {"planned_iterations", problem.planned_steps},
                {"residual", nullptr},
                {"converged", true},
                {"history", json::array()},
                {"unknowns", nodes},
                {"grid", local.ranks().ranks},
                {"seconds_per_step", seconds[0] / launched},
                {"rate", nodes * launched / seconds[0]},
                {"rate_unit", "cells/s"},
                {"lines_changed", application::changed_lines(variant.files, &source_of)},
                {"by_hand", variant.is_written_by_hand},
                {"step_bytes", elements_of_cell * sizeof(T) * nodes},
                {"facts", std::move(facts)},
                {"kernels", to_json(local.times(), runtime.processes())}};
  if (problem.frames > 0) found["pictures"] = frames.json();
  if (request.checks) {
    const std::shared_ptr<ExpectedFields<T>> expected =
        TRY(runtime.shared<ExpectedFields<T>>([&] { return expected_of<T>(problem); }));
    found["checked"] = check(problem, local.fields(), *expected, runtime);
  }
  return found;
}

Result<json> run(const ApplicationRequest& request, Runtime& runtime) {
  const WaveProblem problem = TRY(problem_of(request));
  return problem.is_float32 ? run_with<float>(problem, request, runtime) : run_with<double>(problem, request, runtime);
}
constexpr std::string_view usual[] = {"wavefront", "simd"};

} // namespace

application::Application description() {
  return {
      .name = "fdtd2d",
      .summary = "Maxwell's equations in 2D by finite differences in time (TM), absorbing layer CPML",
      .paper = "K. Yee (1966); J. Roden and S. Gedney, CPML (2000)",
      .sizes = "nodes along x and y: 512 or 512x384",
      .default_size = "256",
      .golden_hash = KUMIHIMO_GOLDEN_HASH,
      .variants = application::descriptions(variants()),
      .methods = {},
      .options = option_rows(),
      .shares = &shares,
      .sample = 32, // as many as the usual wavefront fuses, twice
      .usual = usual,
      .restart_on = [](const ApplicationRequest&) { return application::RestartOn::any_variant; },
      .run = &run,
  };
}

} // namespace kumihimo::fdtd2d
