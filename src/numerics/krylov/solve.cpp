#include "krylov/solve.hpp"

#include "krylov/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace kumihimo::krylov {
namespace {

Status check(const Method& method, std::int64_t rows, std::span<const double> b, std::span<double> x,
             const SolverOptions& options) {
  const auto size = static_cast<std::size_t>(rows);
  if (b.size() != size || x.size() != size)
    return wrong_value(fmt::format("the right-hand side and the solution must have {} rows", rows),
                       fmt::format("{} and {}", b.size(), x.size()));
  if (!(options.tolerance > 0) || !(options.tolerance < 1))
    return wrong_value("the tolerance must be above 0 and below 1", fmt::format("{}", options.tolerance));
  if (options.max_iterations < 1)
    return wrong_value("the limit on iterations must be at least 1", options.max_iterations);
  if (options.replace_every < 0)
    return wrong_value("the iterations between residual replacements must be at least 0", options.replace_every);
  if (!(options.largest_deviation >= 0))
    return wrong_value("the largest deviation must be at least 0", fmt::format("{}", options.largest_deviation));
  if (options.patience < 1) return wrong_value("the patience must be at least 1 iteration", options.patience);
  for (const auto& [name, value] : options.parameters) {
    const TakenParameter* found = nullptr;
    for (const TakenParameter& each : method.parameters)
      if (each.parameter->name == name) found = &each;
    if (!found) return wrong_value(fmt::format("{} takes no parameter of this name", method.name), name);
    if (Status s = found->parameter->check(value); !s) return s.error();
  }
  return Nothing{};
}

} // namespace

Status solve(const Method& method, LinearSystem& system, Sums& sums, std::span<const double> b, std::span<double> x,
             const SolverOptions& options, Solution& solution) {
  SolverOptions complete = options;
  complete.parameters = with_defaults(method.parameters, options.parameters);
  solution = {};
  const auto begin = std::chrono::steady_clock::now();
  SolverRun run(system, sums, b, x, complete, solution);
  if (run.begin(check(method, system.rows(), b, x, options))) method.iterate(run);
  Status status = run.finish();
  solution.seconds.total = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return status;
}

} // namespace kumihimo::krylov
