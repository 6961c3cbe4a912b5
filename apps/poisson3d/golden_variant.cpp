// The golden copy as a variant.
#include "poisson3d/variant.hpp"
#include "sparse/golden.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace kumihimo::poisson3d {
namespace {

class GoldenSolver final : public LocalSolver {
 public:
  GoldenSolver(const sparse::CrsMatrix& matrix, sparse::golden::GoldenFactor factor)
      : matrix_(matrix), factor_(std::move(factor)) {
    for (const std::int32_t column : matrix.column) to_ghosts_ += column >= matrix.rows;
  }

  Status multiply_rows(const double* x, double* y) override {
    for (std::int32_t i = 0; i < matrix_.rows; ++i) {
      y[i] = 0;
      for (std::int64_t k = begin(i); k < begin(i + 1); ++k)
        if (column(k) < matrix_.rows) y[i] += matrix_.value[static_cast<std::size_t>(k)] * x[column(k)];
    }
    return Nothing{};
  }
  Status add_ghosts(const double* x, double* y) override {
    for (std::int32_t i = 0; i < matrix_.rows; ++i)
      for (std::int64_t k = begin(i); k < begin(i + 1); ++k)
        if (column(k) >= matrix_.rows) y[i] += matrix_.value[static_cast<std::size_t>(k)] * x[column(k)];
    return Nothing{};
  }
  Status precondition(const double* r, double* z) override {
    const auto rows = static_cast<std::size_t>(matrix_.rows);
    sparse::golden::precondition(matrix_, factor_, {r, rows}, {z, rows});
    return Nothing{};
  }

  // Entries with their columns and the begins of rows; x and y once.
  application::KernelWork work_of_product() const override {
    const auto entries = static_cast<double>(matrix_.entries()), rows = static_cast<double>(matrix_.rows);
    return {12 * entries + 8 * rows + 8 * (static_cast<double>(matrix_.columns) + rows), 2 * entries};
  }
  // Both sweeps read the lower half; each vector once: r, z and the pivots.
  application::KernelWork work_of_preconditioner() const override {
    const auto rows = static_cast<double>(matrix_.rows);
    const double lower = (static_cast<double>(matrix_.entries() - to_ghosts_) - rows) / 2;
    return {2 * (12 * lower + 8 * rows) + 3 * 8 * rows, 4 * lower + rows};
  }
  nlohmann::json facts() const override { return nlohmann::json::object(); }

 private:
  std::int64_t begin(std::int32_t row) const { return matrix_.begin[static_cast<std::size_t>(row)]; }
  std::int32_t column(std::int64_t k) const { return matrix_.column[static_cast<std::size_t>(k)]; }

  const sparse::CrsMatrix& matrix_;
  sparse::golden::GoldenFactor factor_;
  std::int64_t to_ghosts_ = 0;
};

} // namespace

Result<std::unique_ptr<LocalSolver>> make_golden(const PoissonVariant&, const sparse::CrsMatrix& matrix,
                                                 const ParameterValues&, sparse::Factorisations&) {
  TRY(sparse::check_symmetric_positive(matrix));
  sparse::golden::GoldenFactor factor = TRY(sparse::golden::factorise(matrix));
  return std::unique_ptr<LocalSolver>(std::make_unique<GoldenSolver>(matrix, std::move(factor)));
}

} // namespace kumihimo::poisson3d
