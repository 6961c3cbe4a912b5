#include "application/krylov_run.hpp"

#include "application/checkpoints.hpp"
#include "krylov/solve.hpp"

#include <nlohmann/json.hpp>

namespace kumihimo::application {

std::span<const std::string_view> krylov_methods() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> found;
    for (const krylov::Method& each : krylov::methods()) found.push_back(each.name);
    return found;
  }();
  return all;
}

Result<KrylovRun> run_krylov(const ApplicationRequest& request, krylov::LinearSystem& system, KernelTimes& times,
                             krylov::Sums& sums, std::span<const double> b, std::span<double> x, Runtime& runtime) {
  const krylov::Method& method = *TRY(krylov::find_method(request.method));
  krylov::SolverOptions options;
  options.tolerance = request.tolerance;
  options.max_iterations = request.most_iterations;
  options.progress = [&](const krylov::SolverProgress& now) {
    runtime.progress(now.iteration, now.residual, request.tolerance);
    return true;
  };
  options.at_iteration = runtime.checkpoints().hook();
  krylov::Solution found;
  const Status status = krylov::solve(method, system, sums, b, x, options, found);
  const bool is_sample = found.ending == krylov::Ending::iteration_limit && request.may_stop_early;
  if (!status && !is_sample) return status.error();
  const double rows = static_cast<double>(system.rows());
  const std::size_t row = times.declare("vector updates and dots", {method.bytes_per_row() * rows, 0});
  times.add(row, runtime.checkpoints().made(found.iterations), found.seconds.updates + found.seconds.dots);
  KrylovRun run{found.iterations, status.ok(), std::move(found.history)};
  run.history.back() = found.residual;
  run.facts = nlohmann::json{{"replacements", found.replacements}, {"waiting_seconds", found.seconds.waiting}};
  return run;
}

} // namespace kumihimo::application
