// The golden copy as a variant.
#include "poisson3d/golden.hpp"
#include "poisson3d/variant.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace kumihimo::poisson3d {
namespace {

class GoldenSolver final : public LocalSolver {
 public:
  GoldenSolver(const LocalMatrix& matrix, golden::Factor factor) : matrix_(matrix), factor_(std::move(factor)) {
    for (std::int32_t i = 0; i < matrix.rows; ++i)
      for (auto e = matrix.begin[static_cast<std::size_t>(i)]; e < matrix.begin[static_cast<std::size_t>(i) + 1]; ++e)
        to_ghosts_ += matrix.column[static_cast<std::size_t>(e)] >= matrix.rows;
  }

  Status multiply(const double* x, double* y) override {
    golden::multiply(matrix_, x, y);
    return Nothing{};
  }
  Status precondition(const double* r, double* z) override {
    golden::precondition(matrix_, factor_, r, z);
    return Nothing{};
  }

  // Entries with their columns and the begins of rows; x and y once.
  application::Work work_of_product() const override {
    const auto entries = static_cast<double>(matrix_.entries()), rows = static_cast<double>(matrix_.rows);
    return {12 * entries + 8 * rows + 8 * (static_cast<double>(matrix_.columns) + rows), 2 * entries};
  }
  // Both sweeps read all entries; r is read, z written, read and written; the pivots are read by each sweep.
  application::Work work_of_preconditioner() const override {
    const auto entries = static_cast<double>(matrix_.entries()), rows = static_cast<double>(matrix_.rows);
    return {2 * (12 * entries + 8 * rows) + 6 * 8 * rows, 2 * (entries - static_cast<double>(to_ghosts_)) + rows};
  }
  nlohmann::json facts() const override { return nlohmann::json::object(); }

 private:
  const LocalMatrix& matrix_;
  golden::Factor factor_;
  std::int64_t to_ghosts_ = 0;
};

} // namespace

Result<std::unique_ptr<LocalSolver>> make_golden(const LocalMatrix& matrix, const ParameterValues&) {
  golden::Factor factor = TRY(golden::factorise(matrix));
  return std::unique_ptr<LocalSolver>(std::make_unique<GoldenSolver>(matrix, std::move(factor)));
}

} // namespace kumihimo::poisson3d
