// Algebraic multigrid as the preconditioner of a rank's rows: over ranks additive Schwarz without overlap.
#include "amg/smoothed_aggregation.hpp"
#include "poisson3d/variant.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kumihimo::poisson3d {
namespace {

// Entries [from[i], to[i]) of rows i: their sum becomes y[i], or is added to it.
template <bool adds>
void multiply_entries(const sparse::CrsMatrix& a, const std::int64_t* from, const std::int64_t* to,
                      threads::IndexRange rows, const double* x, double* y) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    double sum = 0;
    for (std::int64_t k = from[i]; k < to[i]; ++k)
      sum += a.value[static_cast<std::size_t>(k)] * x[a.column[static_cast<std::size_t>(k)]];
    y[i] = adds ? y[i] + sum : sum;
  }
}

// Of each row, where its entries to ghosts begin: columns ascend, so they are the last ones.
std::vector<std::int64_t> first_ghosts(const sparse::CrsMatrix& a) {
  std::vector<std::int64_t> first;
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    const auto begin = a.column.begin() + a.begin[i], end = a.column.begin() + a.begin[i + 1];
    first.push_back(std::lower_bound(begin, end, a.rows) - a.column.begin());
  }
  return first;
}

// The rows without their entries to ghosts.
sparse::CrsMatrix square_part(const sparse::CrsMatrix& a) {
  sparse::CrsMatrix made;
  made.rows = made.columns = a.rows;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = a.begin[static_cast<std::size_t>(i)]; k < a.begin[static_cast<std::size_t>(i) + 1]; ++k) {
      if (a.column[static_cast<std::size_t>(k)] >= a.rows) continue;
      made.column.push_back(a.column[static_cast<std::size_t>(k)]);
      made.value.push_back(a.value[static_cast<std::size_t>(k)]);
    }
    made.begin.push_back(static_cast<std::int64_t>(made.column.size()));
  }
  return made;
}

class AmgSolver final : public LocalSolver {
 public:
  AmgSolver(const sparse::CrsMatrix& matrix, std::unique_ptr<amg::SmoothedAggregation> hierarchy)
      : matrix_(matrix), first_ghosts_(first_ghosts(matrix)), hierarchy_(std::move(hierarchy)) {}

  Status multiply_rows(const double* x, double* y) override {
    const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
    for (int t = 0; t < team; ++t)
      multiply_entries<false>(matrix_, matrix_.begin.data(), first_ghosts_.data(), threads::part(matrix_.rows, t, team),
                              x, y);
    return Nothing{};
  }
  Status add_ghosts(const double* x, double* y) override {
    if (matrix_.columns == matrix_.rows) return Nothing{};
    const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
    for (int t = 0; t < team; ++t)
      multiply_entries<true>(matrix_, first_ghosts_.data(), matrix_.begin.data() + 1,
                             threads::part(matrix_.rows, t, team), x, y);
    return Nothing{};
  }
  Status precondition(const double* r, double* z) override {
    hierarchy_->apply(r, z);
    return Nothing{};
  }

  application::KernelWork work_of_product() const override {
    const auto entries = static_cast<double>(matrix_.entries()), rows = static_cast<double>(matrix_.rows);
    return {12 * entries + 8 * rows + 8 * (static_cast<double>(matrix_.columns) + rows), 2 * entries};
  }
  // AMGCL does not count its operations.
  application::KernelWork work_of_preconditioner() const override {
    return {static_cast<double>(hierarchy_->bytes()), 0};
  }
  nlohmann::json facts() const override { return {{"library", "AMGCL"}}; }

 private:
  const sparse::CrsMatrix& matrix_;
  std::vector<std::int64_t> first_ghosts_;
  std::unique_ptr<amg::SmoothedAggregation> hierarchy_;
};

} // namespace

Result<std::unique_ptr<LocalSolver>> make_amg(const PoissonVariant&, const sparse::CrsMatrix& matrix,
                                              const ParameterValues&, sparse::Factorisations&) {
  TRY(sparse::check_symmetric_positive(matrix));
  const bool has_ghosts = matrix.columns > matrix.rows;
  const sparse::CrsMatrix square = has_ghosts ? square_part(matrix) : sparse::CrsMatrix{};
  const sparse::CrsMatrix& a = has_ghosts ? square : matrix;
  std::unique_ptr<amg::SmoothedAggregation> hierarchy =
      TRY(amg::SmoothedAggregation::make({a.begin, a.column, a.value}));
  return std::unique_ptr<LocalSolver>(std::make_unique<AmgSolver>(matrix, std::move(hierarchy)));
}

} // namespace kumihimo::poisson3d
