// Chronopoulos and Gear, s-step iterative methods for symmetric linear systems, Journal of Computational and Applied
// Mathematics 25 (1989), for s = 1: s = A p follows from w = A u by a recursion, so that (r, u) and (w, u) are known
// together. One reduction, blocking.
#include "krylov/run.hpp"

namespace kumihimo::krylov {

void chronopoulos_gear(SolverRun& run) {
  const auto [r, u, w, p, s] = run.vectors<5>();
  double* const x = run.x();
  double gamma = 0, alpha = 0, beta = 0, curvature = 0; // of the last iteration; curvature: p.A p
  SumArray advanced{};                                  // r.r, p.p, s.s
  if (!run.replace(r, w)) return;
  const auto state = [&](StateList& list) {
    list.array("r", run.rows_of(r)).array("p", run.rows_of(p)).array("s", run.rows_of(s));
    list.number("gamma", gamma).number("alpha", alpha).number("beta", beta).number("curvature", curvature);
    list.number("sums", advanced);
  };
  while (true) {
    if (!run.at_iteration(state)) return;
    run.precondition(r, u);
    run.product(u, w);
    const SumArray own = run.run(VectorKernel::dots_residual, {r, u, w});
    const auto sums = run.sum(std::array{own[0], own[1], own[2], advanced[1], advanced[2]});
    const double ru = sums[0], wu = sums[1];
    if (!run.fresh())
      run.deviation.recursive_direction(alpha, beta, {.p = std::sqrt(sums[3]), .s = std::sqrt(sums[4])});
    const Next next = run.judge(sums[2], ru, true);
    if (next == Next::end) return;
    if (next == Next::replace) {
      if (!run.replace(r, w)) return;
      run.product(p, s);
      continue;
    }
    beta = gamma > 0 ? ru / gamma : 0;
    double pAp = wu - beta * beta * curvature;
    if (!(pAp > 0)) beta = 0, pAp = wu; // rounding: restart with p = u
    if (!run.is_positive(pAp)) return;
    curvature = pAp;
    gamma = ru;
    alpha = gamma / curvature;
    // p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s
    advanced = run.run(VectorKernel::gear_advance, {x, r, p, s, u, w}, alpha, beta);
    run.iterated();
  }
}

} // namespace kumihimo::krylov
