// Ghysels and Vanroose, Hiding global synchronization latency in the preconditioned conjugate gradient algorithm,
// Parallel Computing 40 (2014), algorithm 4. Every product and preconditioner is applied to a vector that is known
// before the reduction ends: one reduction, behind both.
#include "krylov/run.hpp"

namespace kumihimo::krylov {

void pipelined(SolverRun& run) {
  const auto [r, u, w, p, s, q, z, m, n] = run.vectors<9>();
  double* const x = run.x();
  double gamma = 0, alpha = 0, beta = 0, curvature = 0;
  const auto define = [&] { // all by their definitions; p is kept
    if (!run.replace(r, n)) return false;
    run.precondition(r, u);
    run.product(u, w);
    return true;
  };
  if (!define()) return;
  SumArray own = run.run(VectorKernel::dots_residual, {r, u, w});
  const auto state = [&](StateList& list) {
    list.array("r", run.rows_of(r)).array("u", run.rows_of(u)).array("w", run.rows_of(w)).array("p", run.rows_of(p));
    list.array("s", run.rows_of(s)).array("q", run.rows_of(q)).array("z", run.rows_of(z)).number("sums", own);
    list.number("gamma", gamma).number("alpha", alpha).number("beta", beta).number("curvature", curvature);
  };
  while (true) {
    if (!run.at_iteration(state)) return;
    run.start(own);
    run.precondition(w, m);
    run.product(m, n);
    const auto sums = run.wait();
    const double ru = sums[0], wu = sums[1];
    if (!run.fresh())
      run.deviation.pipelined(alpha, beta,
                              {.r = std::sqrt(sums[2]),
                               .p = std::sqrt(sums[3]),
                               .s = std::sqrt(sums[4]),
                               .u = std::sqrt(sums[7]),
                               .w = std::sqrt(sums[8]),
                               .q = std::sqrt(sums[5]),
                               .z = std::sqrt(sums[6])});
    Next next = run.judge(sums[2], ru, false);
    if (next == Next::end) return;
    if (next == Next::go_on) {
      beta = gamma > 0 ? ru / gamma : 0;
      double pAp = wu - beta * beta * curvature;
      if (!(pAp > 0)) beta = 0, pAp = wu; // rounding: restart with p = u
      if (!(pAp > 0) && !run.fresh())
        next = Next::replace; // w may be far from A u
      else if (!run.is_positive(pAp))
        return;
      else
        curvature = pAp;
    }
    if (next == Next::replace) {
      if (!define()) return;
      run.product(p, s);
      run.precondition(s, q);
      run.product(q, z);
      own = run.run(VectorKernel::dots_residual, {r, u, w});
      continue;
    }
    gamma = ru;
    alpha = gamma / curvature;
    // z = n + beta z, q = m + beta q, s = w + beta s, p = u + beta p, x += alpha p, r -= alpha s, u -= alpha q, w -=
    // alpha z
    own = run.run(VectorKernel::pipelined_advance, {x, r, u, w, p, s, q, z, m, n}, alpha, beta);
    run.iterated();
  }
}

} // namespace kumihimo::krylov
