#include "lu/golden.hpp"

#include "lu/panel.hpp"
#include "lu/test_matrix.hpp"

#include <cmath>
#include <span>
#include <utility>

namespace kumihimo::lu::golden {

Result<Factors> factor(std::vector<double> matrix, std::int64_t n, const AtIteration& at_iteration) {
  for (std::int64_t j = 0; j < n; ++j)
    if (Status s = check_column(j, {matrix.data() + j * n, static_cast<std::size_t>(n)}); !s) return s.error();
  Factors f{n, std::move(matrix), {}};
  const auto a = [&](std::int64_t i, std::int64_t j) -> double& { return f.lu[static_cast<std::size_t>(i + j * n)]; };
  std::int64_t k = 0;
  const FillState state = [&](StateList& list) {
    list.number("column", k).array("matrix", std::span(f.lu)).vector("pivots", f.pivots);
  };
  for (; k < n; ++k) {
    if (at_iteration) TRY(at_iteration(k, state));
    std::int64_t pivot = k;
    for (std::int64_t i = k; i < n; ++i) {
      if (std::isnan(a(i, k))) return MissingPivot{k, a(i, k)}.error(); // of two infinities
      if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
    }
    if (!is_pivot(a(pivot, k))) return MissingPivot{k, a(pivot, k)}.error();
    f.pivots.push_back(pivot);
    for (std::int64_t j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
    for (std::int64_t i = k + 1; i < n; ++i) a(i, k) /= a(k, k);
    for (std::int64_t j = k + 1; j < n; ++j)
      for (std::int64_t i = k + 1; i < n; ++i) a(i, j) -= a(i, k) * a(k, j);
  }
  return f;
}

std::vector<double> solve(const Factors& f, std::vector<double> x) {
  const auto a = [&](std::int64_t i, std::int64_t j) { return f.lu[static_cast<std::size_t>(i + j * f.n)]; };
  const auto at = [&](std::int64_t i) -> double& { return x[static_cast<std::size_t>(i)]; };
  for (std::int64_t k = 0; k < f.n; ++k) std::swap(at(k), at(f.pivots[static_cast<std::size_t>(k)]));
  for (std::int64_t j = 0; j < f.n; ++j)
    for (std::int64_t i = j + 1; i < f.n; ++i) at(i) -= a(i, j) * at(j);
  for (std::int64_t j = f.n - 1; j >= 0; --j) {
    at(j) /= a(j, j);
    for (std::int64_t i = 0; i < j; ++i) at(i) -= a(i, j) * at(j);
  }
  return x;
}

} // namespace kumihimo::lu::golden
