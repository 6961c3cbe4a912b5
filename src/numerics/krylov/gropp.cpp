// Gropp's asynchronous conjugate gradients: Update on libraries for Blue Waters (2010), "more work does not imply more
// time". z = M^-1 r and s = A p follow by recursions, so that each of the two reductions runs behind work: (p, s)
// behind the preconditioner, (r, z) behind the product.
#include "krylov/run.hpp"

namespace kumihimo::krylov {

void gropp(SolverRun& run) {
  const auto [r, z, p, s, q, w] = run.vectors<6>();
  double* const x = run.x();
  double gamma = 0, alpha = 0, beta = 0, pp = 0, ss = 0;
  bool restart = true; // p = z
  if (!run.replace(r, w)) return;
  run.precondition(r, z);
  SumArray own = run.run(VectorKernel::dots_residual, {r, z, z});
  double rz = own[0], rr = own[2];
  const auto state = [&](StateList& list) {
    list.array("r", run.rows_of(r)).array("z", run.rows_of(z)).array("p", run.rows_of(p)).array("s", run.rows_of(s));
    list.number("gamma", gamma).number("alpha", alpha).number("beta", beta).number("restart", restart);
    list.number("p.p", pp).number("s.s", ss).number("r.z", rz).number("r.r", rr);
  };
  while (true) {
    if (!run.at_iteration(state)) return;
    run.start(std::array{rz, rr});
    run.product(z, w);
    const auto first = run.wait();
    const double all_rz = first[0], all_rr = first[1];
    if (!run.fresh()) run.deviation.recursive_direction(alpha, beta, {.p = std::sqrt(pp), .s = std::sqrt(ss)});
    Next next = run.judge(all_rr, all_rz, false);
    if (next == Next::end) return;
    if (next == Next::go_on) {
      beta = restart ? 0 : all_rz / gamma;
      gamma = all_rz;
      own = run.run(VectorKernel::gropp_directions, {p, s, z, w}, 0, beta); // p = z + beta p, s = w + beta s
      run.start(std::array{own[0], own[1], own[2]});
      run.precondition(s, q);
      const auto second = run.wait();
      const double pAp = second[0];
      pp = second[1];
      ss = second[2];
      restart = !(pAp > 0) && !(run.fresh() && beta == 0);
      if (restart) {
        next = Next::replace;
      } else {
        if (!run.is_positive(pAp)) return;
        alpha = gamma / pAp;
        // x += alpha p, r -= alpha s, z -= alpha q
        own = run.run(VectorKernel::gropp_advance, {x, r, z, p, s, q}, alpha);
        rz = own[0], rr = own[1];
        run.iterated();
      }
    }
    if (next == Next::replace) {
      if (!run.replace(r, w)) return;
      run.precondition(r, z);
      run.product(p, s);
      own = run.run(VectorKernel::dots_residual, {r, z, z});
      rz = own[0], rr = own[2];
    }
  }
}

} // namespace kumihimo::krylov
