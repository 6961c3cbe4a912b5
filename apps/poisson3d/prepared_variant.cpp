// The variants of src/numerics/sparse: IC(0) in a coloured numbering, threads.
#include "poisson3d/variant.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace kumihimo::poisson3d {
namespace {

class PreparedSolver final : public LocalSolver {
 public:
  PreparedSolver(const sparse::CrsMatrix& matrix, sparse::PreparedSystem system)
      : entries_(static_cast<double>(matrix.entries())), system_(std::move(system)) {
    for (const std::int32_t column : matrix.column) to_ghosts_ += column >= matrix.rows;
  }

  std::span<const std::int32_t> new_of_old() const override { return system_.numbering().new_of_old; }
  Status multiply_rows(const double* x, double* y) override {
    system_.multiply_rows(x, y);
    return Nothing{};
  }
  Status add_ghosts(const double* x, double* y) override {
    system_.add_ghosts(x, y);
    return Nothing{};
  }
  Status precondition(const double* r, double* z) override {
    system_.precondition(r, z);
    return Nothing{};
  }
  const sparse::PreparedSystem* transformed() const override { return system_.is_transformed() ? &system_ : nullptr; }

  application::KernelWork work_of_product() const override {
    return {static_cast<double>(system_.bytes_of_product()), 2 * entries_};
  }
  application::KernelWork work_of_preconditioner() const override {
    return {static_cast<double>(system_.bytes_of_preconditioner()),
            2 * (entries_ - static_cast<double>(to_ghosts_)) + static_cast<double>(system_.rows())};
  }
  nlohmann::json facts() const override {
    return {{"colours", system_.colours()}, {"instructions", system_.instruction_set()}};
  }
  double kept_seconds() const override { return system_.kept_seconds(); }

 private:
  double entries_;
  std::int64_t to_ghosts_ = 0;
  sparse::PreparedSystem system_;
};

} // namespace

Result<std::unique_ptr<LocalSolver>> make_prepared(const PoissonVariant& variant, const sparse::CrsMatrix& matrix,
                                                   const ParameterValues& parameters,
                                                   sparse::Factorisations& factorisations) {
  sparse::PreparedSystem system =
      TRY(sparse::prepare(matrix, *variant.prepared, {.parameters = parameters, .factorisations = &factorisations}));
  return std::unique_ptr<LocalSolver>(std::make_unique<PreparedSolver>(matrix, std::move(system)));
}

} // namespace kumihimo::poisson3d
