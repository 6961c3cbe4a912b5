#include "lu_app/check.hpp"

#include "lu/golden_tournament.hpp"
#include "lu/tiled.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <utility>

namespace kumihimo::lu_app {
namespace {

// MPI's maximum may drop a NaN.
std::vector<double> largest(application::Processes& processes, std::vector<double> values) {
  std::vector<double> is_nan;
  for (double& each : values) {
    is_nan.push_back(std::isnan(each));
    if (std::isnan(each)) each = 0;
  }
  values = processes.largest(values);
  is_nan = processes.largest(is_nan);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (is_nan[i] != 0) values[i] = std::numeric_limits<double>::quiet_NaN();
  return values;
}

} // namespace

double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

Result<lu::SolutionNorms> norms_of(const std::vector<double>& x, const LuProblem& problem, const LuRequest& request,
                                   ProcessGrid& grid, application::Processes& processes) {
  const lu::BlockCyclic rows{problem.n, problem.block, problem.p}, columns{problem.n, problem.block, problem.q};
  const lu::TestMatrix matrix(request.matrix, problem.n, request.seed);
  const auto own = static_cast<std::size_t>(rows.count(grid.p));
  std::vector<double> sums(2 * own), column(own), b(own); // A x, and of magnitudes of A
  for (std::int64_t l = 0; l < columns.count(grid.q); ++l) {
    const std::int64_t j = columns.global(grid.q, l);
    matrix.fill(j, rows, grid.p, column.data());
    for (std::size_t i = 0; i < own; ++i) {
      sums[i] += column[i] * x[static_cast<std::size_t>(j)];
      sums[own + i] += std::fabs(column[i]);
    }
  }
  if (Status s = processes.agree(grid.row->sum(sums)); !s) return s.error();
  matrix.fill(problem.n, rows, grid.p, b.data());
  std::vector<double> norms(4);
  for (std::size_t i = 0; i < own; ++i) {
    norms[0] = larger(std::fabs(sums[i] - b[i]), norms[0]);
    norms[1] = larger(sums[own + i], norms[1]);
    norms[2] = larger(std::fabs(b[i]), norms[2]);
  }
  for (const double each : x) norms[3] = larger(std::fabs(each), norms[3]);
  norms = largest(processes, std::move(norms));
  return lu::SolutionNorms{.residual = norms[0], .a = norms[1], .x = norms[3], .b = norms[2]};
}

Result<std::vector<double>> gathered(LuFactorisation& factors, application::Runtime& runtime) {
  const lu::BlockCyclic &rows = factors.rows(), &columns = factors.columns();
  const ProcessGrid& grid = factors.grid();
  const std::int64_t n = rows.size;
  std::vector<double> lu(static_cast<std::size_t>(n * n));
  for (std::int64_t l = 0; l < columns.count(grid.q, n); ++l)
    for (std::int64_t i = 0; i < rows.count(grid.p); ++i)
      lu[static_cast<std::size_t>(rows.global(grid.p, i) + columns.global(grid.q, l) * n)] = factors.column(l)[i];
  if (Status s = runtime.sums().sum(lu); !s) return s.error();
  // Later exchanges have left earlier columns of L where they were.
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t j = 0; j < k / rows.block * rows.block; ++j)
      std::swap(lu[static_cast<std::size_t>(k + j * n)],
                lu[static_cast<std::size_t>(factors.pivots()[static_cast<std::size_t>(k)] + j * n)]);
  return lu;
}

Result<FactorCheck> check_factors(const std::vector<double>& lu, const std::vector<std::int64_t>& pivots,
                                  const lu::TestMatrix& matrix, LuVariant::Pivoting pivoting,
                                  const lu::BlockCyclic& rows) {
  const std::int64_t n = matrix.size();
  const lu::BlockCyclic all{n, n, 1};
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j) matrix.fill(j, all, 0, a.data() + j * n);
  FactorCheck check;
  const std::int64_t leaf = pivoting == LuVariant::Pivoting::tiles ? lu::leaf_rows : n;
  const lu::golden::Factors golden =
      TRY(pivoting == LuVariant::Pivoting::rows ? lu::golden::factor(a, n)
                                                : lu::golden::factor_by_tournament(a, n, rows.block, leaf, rows.parts));
  for (std::size_t k = 0; k < pivots.size(); ++k) check.different_pivots += pivots[k] != golden.pivots[k];
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t k = 0; k < n; ++k)
      std::swap(a[static_cast<std::size_t>(k + j * n)],
                a[static_cast<std::size_t>(pivots[static_cast<std::size_t>(k)] + j * n)]);
  const double roundings = static_cast<double>(n + 1) * DBL_EPSILON / 2, gamma = roundings / (1 - roundings);
  std::vector<double> product(static_cast<std::size_t>(n)), magnitude(product);
  for (std::int64_t j = 0; j < n; ++j) {
    std::fill(product.begin(), product.end(), 0.0);
    std::fill(magnitude.begin(), magnitude.end(), 0.0);
    for (std::int64_t k = 0; k <= j; ++k) {
      const double u = lu[static_cast<std::size_t>(k + j * n)];
      for (std::int64_t i = k; i < n; ++i) {
        const double term = (i == k ? 1 : lu[static_cast<std::size_t>(i + k * n)]) * u;
        product[static_cast<std::size_t>(i)] += term;
        magnitude[static_cast<std::size_t>(i)] += std::fabs(term);
      }
    }
    for (std::int64_t i = 0; i < n; ++i) { // the product here rounds as often as the factorisation did
      const auto at = static_cast<std::size_t>(i);
      const double apart = std::fabs(a[static_cast<std::size_t>(i + j * n)] - product[at]);
      const double bound = 2 * gamma * magnitude[at];
      check.worst = larger(apart == 0 ? 0 : apart / bound, check.worst);
    }
  }
  return check;
}

double growth_of(LuFactorisation& factors, const lu::TestMatrix& matrix, application::Processes& processes) {
  const lu::BlockCyclic &rows = factors.rows(), &columns = factors.columns();
  const ProcessGrid& grid = factors.grid();
  std::vector<double> entries(static_cast<std::size_t>(rows.count(grid.p)));
  double u = 0, a = 0;
  for (std::int64_t l = 0; l < columns.count(grid.q, rows.size); ++l) {
    const std::int64_t j = columns.global(grid.q, l);
    matrix.fill(j, rows, grid.p, entries.data());
    for (const double each : entries) a = larger(std::fabs(each), a);
    for (std::int64_t i = 0; i < rows.count(grid.p, j + 1); ++i) u = larger(std::fabs(factors.column(l)[i]), u);
  }
  const std::vector<double> found = largest(processes, {u, a});
  return found[0] / found[1];
}

} // namespace kumihimo::lu_app
