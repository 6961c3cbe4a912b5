#include "poisson3d/check.hpp"

#include "sparse/golden.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace kumihimo::poisson3d {

MatrixNorms norms_of(const sparse::CrsMatrix& matrix, application::Runtime& runtime) {
  double most = 0;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(matrix.rows); ++i) {
    double sum = 0;
    for (std::int64_t k = matrix.begin[i]; k < matrix.begin[i + 1]; ++k)
      sum += std::abs(matrix.value[static_cast<std::size_t>(k)]);
    most = std::max(most, sum);
    longest = std::max(longest, matrix.begin[i + 1] - matrix.begin[i]);
  }
  const std::vector<double> all = runtime.processes().largest({most, static_cast<double>(longest)});
  return {all[0], all[1]};
}

Result<nlohmann::json> check_solution(const LocalProblem& problem, const std::vector<double>& x, double tolerance,
                                      double deviation, application::Runtime& runtime) {
  const sparse::CrsMatrix& a = problem.matrix;
  std::unique_ptr<application::GhostExchange> exchange = TRY(runtime.exchange(problem.ghosts));
  std::vector<double> with_ghosts = x, product(x.size());
  with_ghosts.resize(static_cast<std::size_t>(a.columns));
  if (Status s = exchange->run(with_ghosts.data()); !s) return s.error();
  sparse::golden::multiply(a, with_ghosts, product);

  enum { residual, right_side, solution, error, exact, sums };
  std::vector<double> squares(sums);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto square = [](double value) { return value * value; };
    squares[residual] += square(problem.right_side[i] - product[i]);
    squares[right_side] += square(problem.right_side[i]);
    squares[solution] += square(x[i]);
    if (problem.exact.empty()) continue;
    squares[error] += square(x[i] - problem.exact[i]);
    squares[exact] += square(problem.exact[i]);
  }
  squares = runtime.processes().total(squares);
  const MatrixNorms norms = norms_of(a, runtime);
  const double norm_b = std::sqrt(squares[right_side]);
  const double found = norm_b > 0 ? std::sqrt(squares[residual]) / norm_b : std::sqrt(squares[residual]);
  const double rounding = (norms.longest_row + 1) * std::numeric_limits<double>::epsilon() * norms.infinity *
                          std::sqrt(squares[solution]) / (norm_b > 0 ? norm_b : 1);
  const double bound = tolerance + deviation + rounding;
  nlohmann::json checked = {{"what", "relative residual by the golden copy's product"},
                            {"right", found <= bound},
                            {"error", found},
                            {"bound", bound}};
  if (squares[exact] > 0) checked["discretisation_error"] = std::sqrt(squares[error] / squares[exact]);
  return checked;
}

} // namespace kumihimo::poisson3d
