#include "fem_cube/preconditioner.hpp"

#include "fem/preconditioners.hpp"
#include "fem_cube/golden.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace kumihimo::fem_cube {

using application::KernelWork;

namespace {

constexpr std::int64_t usual_parts = 8;

template <class Made>
class OwnedPreconditioner final : public Preconditioner {
 public:
  explicit OwnedPreconditioner(Made made) : made_(std::move(made)) {}
  void apply(const double* r, double* z) override { made_.apply(r, z); }

 private:
  Made made_;
};

using Wanted = Result<std::unique_ptr<Preconditioner>>;

template <class Made>
Wanted preconditioner_of(Result<Made> made, KernelWork work, nlohmann::json facts = nlohmann::json::object()) {
  if (!made) return made.error();
  std::unique_ptr<Preconditioner> found = std::make_unique<OwnedPreconditioner<Made>>(std::move(*made));
  found->work = work;
  found->facts = std::move(facts);
  return found;
}

// A block is 9 products and 6 sums.
KernelWork work_of_blocks(double nodes) { return {nodes * (72 + 24 + 24), nodes * 15}; }

// Both sweeps of a whole matrix, each with its half of the blocks.
KernelWork work_of_golden_sweeps(const fem::BlockMatrix& matrix) {
  double blocks = 0;
  for (std::int64_t b = 0; b < matrix.row_begin[matrix.owned]; ++b) blocks += matrix.columns[b] < matrix.owned;
  const auto nodes = static_cast<double>(matrix.owned);
  return {blocks * (72 + 4) + nodes * (72 + 4 * 24), (blocks - nodes) * 18 + nodes * 33};
}

} // namespace

Wanted make_preconditioner(const FemOptions& options, const Discrete& discrete, bool golden) {
  if (options.preconditioning == Preconditioning::block_diagonal) {
    const std::vector<double> blocks = discrete.diagonal_blocks();
    const KernelWork work = work_of_blocks(static_cast<double>(blocks.size()) / 9);
    if (golden) return preconditioner_of(golden::GoldenBlockDiagonal::make(blocks), work);
    return preconditioner_of(fem::BlockDiagonal::make(blocks), work);
  }
  const fem::BlockMatrix& matrix = *discrete.matrix();
  const bool schwarz = options.preconditioning == Preconditioning::additive_schwarz;
  const std::int64_t parts = schwarz ? options.parts.value_or(std::min(usual_parts, matrix.owned)) : 1;
  if (golden)
    return preconditioner_of(golden::Schwarz::make(matrix, parts, schwarz ? options.overlap : 0),
                             work_of_golden_sweeps(matrix));
  if (schwarz) {
    Result<fem::AdditiveSchwarz> made = fem::AdditiveSchwarz::make(matrix, parts, options.overlap);
    const KernelWork work = made ? KernelWork{made->bytes(), made->flops()} : KernelWork{};
    return preconditioner_of(std::move(made), work, {{"parts", parts}, {"overlap", options.overlap}});
  }
  Result<fem::GaussSeidel> made = fem::GaussSeidel::make(matrix);
  const KernelWork work = made ? KernelWork{made->bytes(), made->flops()} : KernelWork{};
  const std::int64_t colours = made ? made->colour_count() : 0;
  return preconditioner_of(std::move(made), work, {{"colours", colours}});
}

} // namespace kumihimo::fem_cube
