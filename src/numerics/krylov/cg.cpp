// Conjugate gradients as in the textbooks: Hestenes and Stiefel, Methods of conjugate gradients for solving linear
// systems, Journal of Research of the National Bureau of Standards 49 (1952); preconditioned as in Saad, Iterative
// Methods for Sparse Linear Systems, algorithm 9.1. Two reductions, each blocking.
#include "krylov/run.hpp"

namespace kumihimo::krylov {

void cg(SolverRun& run) {
  const auto [r, z, p, s] = run.vectors<4>();
  double* const x = run.x();
  double gamma = 0;
  if (!run.replace(r, s)) return;
  double rr = run.run(VectorKernel::square, {r})[0];
  const auto state = [&](StateList& list) {
    list.array("r", run.rows_of(r)).array("p", run.rows_of(p)).number("gamma", gamma).number("r.r", rr);
  };
  while (true) {
    if (!run.at_iteration(state)) return;
    run.precondition(r, z);
    const auto first = run.sum(std::array{run.run(VectorKernel::dot, {r, z})[0], rr});
    const double rz = first[0];
    const Next next = run.judge(first[1], rz, true);
    if (next == Next::end) return;
    if (next == Next::replace) {
      if (!run.replace(r, s)) return;
      rr = run.run(VectorKernel::square, {r})[0];
      continue;
    }
    const double beta = gamma > 0 ? rz / gamma : 0;
    gamma = rz;
    run.run(VectorKernel::direction, {p, z}, 0, beta); // p = z + beta p
    run.product(p, s);
    const SumArray own = run.run(VectorKernel::dots_direction, {p, s});
    const auto second = run.sum(std::array{own[0], own[1], own[2]});
    if (!run.is_positive(second[0])) return;
    const double alpha = gamma / second[0];
    rr = run.run(VectorKernel::cg_advance, {x, r, p, s}, alpha)[0]; // x += alpha p, r -= alpha s
    run.deviation.product_direction(alpha, {.p = std::sqrt(second[1]), .s = std::sqrt(second[2])});
    run.iterated();
  }
}

} // namespace kumihimo::krylov
