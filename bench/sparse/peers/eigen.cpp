// peer_eigen SIZE: Eigen's conjugate gradients with its incomplete Cholesky in natural order; products use OpenMP.
#include "report.hpp"

#include <Eigen/Sparse>

using namespace kumihimo;

int main(int count, char** arguments) {
  const sparse::CrsMatrix a = peers::matrix_of(count, arguments);
  const std::vector<int> begin(a.begin.begin(), a.begin.end());
  using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
  const Matrix matrix = Eigen::Map<const Matrix>(a.rows, a.rows, static_cast<Eigen::Index>(a.entries()), begin.data(),
                                                 a.column.data(), a.value.data());
  Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper,
                           Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<int>>>
      solver;
  solver.setTolerance(peers::tolerance).setMaxIterations(peers::most_iterations);
  const double before = peers::now();
  solver.compute(matrix);
  const double start = peers::now();
  const Eigen::VectorXd x = solver.solve(Eigen::VectorXd::Ones(a.rows));
  const double done = peers::now();
  peers::report(static_cast<int>(solver.iterations()), start - before, done - start,
                peers::relative_residual(a, x.data()));
}
