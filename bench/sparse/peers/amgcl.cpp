// peer_amgcl SIZE: AMGCL's conjugate gradients with its ilu0, whose triangular solves use OpenMP by levels.
#include "report.hpp"

// clang-format off: first what AMGCL's adapter uses and does not include
#include <boost/foreach.hpp>
#include <boost/range.hpp>
#include <boost/tuple/tuple.hpp>
// clang-format on
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/as_preconditioner.hpp>
#include <amgcl/relaxation/ilu0.hpp>
#include <amgcl/solver/cg.hpp>

#include <tuple>

using namespace kumihimo;

int main(int count, char** arguments) {
  const sparse::CrsMatrix a = peers::matrix_of(count, arguments);
  const std::vector<std::ptrdiff_t> begin(a.begin.begin(), a.begin.end()), column(a.column.begin(), a.column.end());
  using Backend = amgcl::backend::builtin<double>;
  using Solver = amgcl::make_solver<amgcl::relaxation::as_preconditioner<Backend, amgcl::relaxation::ilu0>,
                                    amgcl::solver::cg<Backend>>;
  Solver::params how;
  how.solver.tol = peers::tolerance;
  how.solver.maxiter = peers::most_iterations;
  const std::ptrdiff_t rows = a.rows;
  const double before = peers::now();
  const Solver solve(boost::tie(rows, begin, column, a.value), how);
  const std::vector<double> b(static_cast<std::size_t>(rows), 1.0);
  std::vector<double> x(b.size(), 0.0);
  const double start = peers::now();
  const auto [iterations, residual] = solve(b, x);
  const double done = peers::now();
  peers::report(static_cast<int>(iterations), start - before, done - start, peers::relative_residual(a, x.data()));
}
