#include "poisson3d/check.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kumihimo::poisson3d {
namespace {

using application::Runtime;
using nlohmann::json;

// Norms over all ranks of b - A x by the golden copy's product, of the error against the manufactured solution, and of
// that solution.
struct Norms {
  double residual = 0, error = 0, exact = 0;
};
Result<Norms> norms_of(const LocalProblem& problem, const std::vector<double>& x, Runtime& runtime) {
  std::unique_ptr<application::GhostExchange> exchange = TRY(runtime.exchange(problem.ghosts));
  std::vector<double> with_ghosts = x, product(x.size());
  with_ghosts.resize(static_cast<std::size_t>(problem.matrix.columns));
  if (Status s = exchange->run(with_ghosts.data()); !s) return s.error();
  golden::multiply(problem.matrix, with_ghosts.data(), product.data());
  std::vector<double> squares(3);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = problem.right_side[i] - product[i], error = x[i] - problem.exact[i];
    squares[0] += residual * residual;
    squares[1] += error * error;
    squares[2] += problem.exact[i] * problem.exact[i];
  }
  squares = runtime.processes().total(squares);
  return Norms{std::sqrt(squares[0]), std::sqrt(squares[1]), std::sqrt(squares[2])};
}

// |A| in the infinity norm.
double norm_of(const LocalMatrix& matrix, Runtime& runtime) {
  double most = 0;
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    double sum = 0;
    for (auto e = matrix.begin[static_cast<std::size_t>(i)]; e < matrix.begin[static_cast<std::size_t>(i) + 1]; ++e)
      sum += std::abs(matrix.value[static_cast<std::size_t>(e)]);
    most = std::max(most, sum);
  }
  return runtime.processes().largest({most})[0];
}

} // namespace

double bound_of(double tolerance, const golden::Solved& solved, double norm_of_matrix) {
  const double eps = std::numeric_limits<double>::epsilon();
  const double steps = static_cast<double>(solved.iterations) + 7;
  const double deviation = solved.norm_b > 0 ? eps * steps * norm_of_matrix * solved.largest_x / solved.norm_b : 0;
  return tolerance + deviation;
}

Result<json> check_solution(const LocalProblem& problem, double tolerance, const golden::Solved& solved,
                            const std::vector<double>& x, Runtime& runtime) {
  const Norms norms = TRY(norms_of(problem, x, runtime));
  const double residual = solved.norm_b > 0 ? norms.residual / solved.norm_b : norms.residual;
  const double bound = bound_of(tolerance, solved, norm_of(problem.matrix, runtime));
  return json{{"what", "relative residual by the golden copy's product"},
              {"right", residual <= bound},
              {"error", residual},
              {"bound", bound},
              {"discretisation_error", norms.error / norms.exact}};
}

} // namespace kumihimo::poisson3d
