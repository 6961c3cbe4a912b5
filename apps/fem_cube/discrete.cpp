#include "fem_cube/discrete.hpp"

#include "fem/product.hpp"
#include "measure/clock.hpp"

#include <algorithm>

namespace kumihimo::fem_cube {

using application::Runtime, application::KernelWork;

namespace {

class MatrixProduct final : public Discrete {
 public:
  MatrixProduct(fem::BlockMatrix matrix, bool golden) : matrix_(std::move(matrix)), golden_(golden) {}
  Status multiply(const double* x, double* y) override {
    if (golden_)
      fem::multiply_golden(matrix_, x, y);
    else
      fem::multiply(matrix_, x, y);
    return Nothing{};
  }
  KernelWork work_of_product() const override {
    return {fem::product_bytes(matrix_), 18 * static_cast<double>(matrix_.row_begin[matrix_.owned])};
  }
  const fem::BlockMatrix* matrix() const override { return &matrix_; }
  std::vector<double> diagonal_blocks() const override { return fem::diagonal_blocks(matrix_); }

 private:
  fem::BlockMatrix matrix_;
  bool golden_;
};

class ElementProduct final : public Discrete {
 public:
  ElementProduct(fem::MatrixFreeProduct product, KernelWork work, std::vector<double> blocks)
      : product_(std::move(product)), work_(work), blocks_(std::move(blocks)) {}
  Status multiply(const double* x, double* y) override { return product_.multiply(x, y); }
  KernelWork work_of_product() const override { return work_; }
  const fem::BlockMatrix* matrix() const override { return nullptr; }
  std::vector<double> diagonal_blocks() const override { return blocks_; }

 private:
  fem::MatrixFreeProduct product_;
  KernelWork work_;
  std::vector<double> blocks_;
};

// Elements with their nodes and two constants of the material, and the coordinates of nodes, read once.
double element_bytes(const fem::Mesh& mesh) {
  return static_cast<double>(mesh.element_count()) * (fem::corners * 4 + 16) +
         static_cast<double>(mesh.node_count()) * 24;
}

// Values are written once and columns read once; no pencil or colour comes back to a row that has left a cache.
KernelWork work_of_assembly(const fem::AssemblyVariant& variant, const fem::Mesh& mesh,
                            const fem::BlockMatrix& matrix) {
  return {element_bytes(mesh) + static_cast<double>(matrix.blocks()) * (9 * 8 + 4),
          variant.flops * static_cast<double>(mesh.element_count())};
}

KernelWork work_of_elements(const fem::OperatorVariant& variant, const fem::Mesh& mesh) {
  return {element_bytes(mesh) + static_cast<double>(mesh.node_count() + mesh.owned) * 24,
          variant.flops * static_cast<double>(mesh.element_count())};
}

// As fem::eliminate() leaves the blocks on the diagonal.
void eliminate_in_blocks(const fem::Constraints& constraints, std::vector<double>& blocks) {
  for (std::size_t n = 0; n < blocks.size() / 9; ++n)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t c = 0; c < 3; ++c)
        if (a != c && (constraints.is_fixed[3 * n + a] || constraints.is_fixed[3 * n + c]))
          blocks[9 * n + 3 * a + c] = 0;
}

// b of a product without a matrix: forces less A u of the prescribed displacements; d u in their own rows.
Result<std::vector<double>> load_of(const FemProblem& problem, const fem::OperatorVariant& variant,
                                    const std::vector<double>& diagonal) {
  const fem::Constraints& constraints = problem.load_case.constraints;
  fem::MatrixFreeProduct all = TRY(fem::MatrixFreeProduct::make(variant, problem.mesh, problem.materials,
                                                                fem::no_constraints(problem.mesh), diagonal));
  std::vector<double> load = problem.load_case.forces, reaction(load.size());
  if (Status s = all.multiply(constraints.values.data(), reaction.data()); !s) return s.error();
  for (std::size_t i = 0; i < load.size(); ++i)
    load[i] = constraints.is_fixed[i] ? diagonal[i] * constraints.values[i] : load[i] - reaction[i];
  return load;
}

Result<std::unique_ptr<Discrete>> without_matrix(const FemProblem& problem, const fem::OperatorVariant& variant) {
  std::vector<double> blocks = fem::diagonal_blocks(problem.mesh, problem.materials), diagonal;
  for (std::size_t i = 0; i < blocks.size(); i += 9)
    for (std::size_t a = 0; a < 3; ++a) diagonal.push_back(blocks[i + 4 * a]);
  const fem::Constraints& constraints = problem.load_case.constraints;
  eliminate_in_blocks(constraints, blocks);
  std::vector<double> load = TRY(load_of(problem, variant, diagonal));
  fem::MatrixFreeProduct product =
      TRY(fem::MatrixFreeProduct::make(variant, problem.mesh, problem.materials, constraints, std::move(diagonal)));
  auto made =
      std::make_unique<ElementProduct>(std::move(product), work_of_elements(variant, problem.mesh), std::move(blocks));
  made->load = std::move(load);
  return std::unique_ptr<Discrete>(std::move(made));
}

} // namespace

Result<Assembled> assemble(const FemProblem& problem, const FemVariant& variant, const ParameterValues& parameters,
                           std::int64_t assemblies, Runtime& runtime) {
  Result<fem::BlockMatrix> matrix = fem::make_matrix(problem.mesh);
  if (Status s = runtime.agree_on(matrix); !s) return s.error();
  std::vector<double> seconds;
  for (std::int64_t i = 0; i < assemblies; ++i) {
    const std::int64_t start = measure::now_ns();
    const Status done = fem::assemble(*variant.assembly, problem.mesh, problem.materials, *matrix, parameters);
    seconds.push_back(measure::seconds_since(start));
    if (Status s = runtime.agree(done); !s) return s.error(); // which makes the ranks start the next one together
  }
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  const double median = seconds.size() % 2 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  const KernelWork work = work_of_assembly(*variant.assembly, problem.mesh, *matrix);
  return Assembled{std::move(*matrix), {median, work}};
}

Result<Discretised> discretise(const FemProblem& problem, const FemVariant& variant, const ParameterValues& parameters,
                               std::int64_t assemblies, Runtime& runtime) {
  if (!variant.assembly) {
    Result<std::unique_ptr<Discrete>> made = without_matrix(problem, *variant.operation);
    if (Status s = runtime.agree_on(made); !s) return s.error();
    return Discretised{std::move(*made), {}};
  }
  Assembled assembled = TRY(assemble(problem, variant, parameters, assemblies, runtime));
  std::vector<double> load = problem.load_case.forces;
  if (Status s = runtime.agree(fem::eliminate(problem.load_case.constraints, assembled.matrix, load)); !s)
    return s.error();
  auto made = std::make_unique<MatrixProduct>(std::move(assembled.matrix), variant.is_golden());
  made->load = std::move(load);
  return Discretised{std::move(made), assembled.time};
}

} // namespace kumihimo::fem_cube
