// s-step conjugate gradients: s iterations for one reduction. Chronopoulos and Gear (1989); in the form of Carson,
// Communication-avoiding Krylov subspace methods in theory and practice (2015), algorithm 21, with a preconditioner and
// a Chebyshev basis.
//
// A step makes bases V = [T_0..T_s of p, T_0..T_{s-1} of z] and U with V = M^-1 U, where A V y = U B y. All vectors of
// the next s iterations are combinations of their columns, so the iterations run on coordinates and the Gram matrices.
// Costs: 2 s - 1 products and preconditioners for s iterations. Limits: the basis grows dependent with s. Chebyshev
// polynomials on the interval of the Ritz values keep it usable to about s = 8; where a step breaks down, s is halved.
#include "krylov/basis_kernels.hpp"
#include "krylov/ritz.hpp"
#include "krylov/run.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::krylov {
namespace {

constexpr std::size_t warm_up = 20; // iterations with s = 1, whose Ritz values give the interval
constexpr double margin = 1.1;      // of the greatest Ritz value, which is below the greatest eigenvalue

// T_0 = 1, T_1 = (A - c) / d, T_{j+1} = 2 (A - c) / d T_j - T_{j-1}.
struct ChebyshevInterval {
  double c = 0, d = 1;
};

using Coordinates = std::vector<double>;

class BasisStep {
 public:
  BasisStep(SolverRun& run, const KrylovBasis& all, int s, ChebyshevInterval interval)
      : run_(run), s_(s), m_(2 * index(s) + 1), interval_(interval) {
    basis_.v.assign(all.v.begin(), all.v.begin() + static_cast<std::ptrdiff_t>(m_));
    basis_.u.assign(all.u.begin(), all.u.begin() + static_cast<std::ptrdiff_t>(m_));
  }
  const KrylovBasis& basis() const { return basis_; }
  std::size_t columns() const { return m_; }

  // Column 0 is p, column 1 is z at first; the order of columns is p, z, then T_1.. of p, then T_1.. of z.
  std::size_t of_p(int j) const { return j == 0 ? 0 : 1 + index(j); }
  std::size_t of_z(int j) const { return j == 0 ? 1 : 1 + index(s_) + index(j); }

  void make_basis() {
    for (int j = 0; j < s_; ++j) advance(of_p(j), of_p(std::max(j - 1, 0)), of_p(j + 1), j == 0);
    for (int j = 0; j + 1 < s_; ++j) advance(of_z(j), of_z(std::max(j - 1, 0)), of_z(j + 1), j == 0);
  }

  // B y: coordinates in U of A V y.
  Coordinates times_b(const Coordinates& y) const {
    Coordinates out(m_, 0.0);
    const auto add = [&](std::size_t at, std::size_t before, std::size_t next, bool first) {
      out[at] += interval_.c * y[at];
      out[next] += (first ? interval_.d : interval_.d / 2) * y[at];
      if (!first) out[before] += interval_.d / 2 * y[at];
    };
    for (int j = 0; j < s_; ++j) add(of_p(j), of_p(std::max(j - 1, 0)), of_p(j + 1), j == 0);
    for (int j = 0; j + 1 < s_; ++j) add(of_z(j), of_z(std::max(j - 1, 0)), of_z(j + 1), j == 0);
    return out;
  }

 private:
  static std::size_t index(int j) { return static_cast<std::size_t>(j); }
  void advance(std::size_t at, std::size_t before, std::size_t next, bool first) {
    run_.product(basis_.v[at], basis_.u[next]);
    run_.recur(basis_.u[next], interval_.c, basis_.u[at], first ? interval_.d : interval_.d / 2, first ? 0 : 1,
               basis_.u[before]);
    run_.precondition(basis_.u[next], basis_.v[next]);
  }

  SolverRun& run_;
  int s_;
  std::size_t m_;
  ChebyshevInterval interval_;
  KrylovBasis basis_;
};

// x^T G y of the packed upper triangle of a symmetric matrix.
double form(std::span<const double> g, const Coordinates& x, const Coordinates& y) {
  double sum = 0;
  std::size_t k = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = i; j < x.size(); ++j, ++k) sum += g[k] * (i == j ? x[i] * y[i] : x[i] * y[j] + x[j] * y[i]);
  return sum;
}

// sum |y_j| ||u_j||: rounding errors of a combination are of this size, times the unit.
double size_of(std::span<const double> h, const Coordinates& y) {
  double sum = 0;
  std::size_t diagonal = 0;
  for (std::size_t j = 0; j < y.size(); diagonal += y.size() - j, ++j)
    sum += std::abs(y[j]) * std::sqrt(std::max(h[diagonal], 0.0));
  return sum;
}

} // namespace

double s_step_bytes(const ParameterValues& values) {
  const auto s = static_cast<double>(values.find("s")->second), m = 2 * s + 1;
  return 8 * ((2 * s - 1) * 4 + 2 * m + 2 * m + 6) / s; // recurrence, Gram matrices, combinations; read and written
}

void s_step(SolverRun& run) {
  const int most = static_cast<int>(run.parameter("s"));
  KrylovBasis all;
  for (int j = 0; j < 2 * most + 1; ++j) {
    all.v.push_back(run.vectors<1>()[0]);
    all.u.push_back(run.vectors<1>()[0]);
  }
  double *const p = all.v[0], *const q = all.u[0], *const z = all.v[1], *const r = all.u[1]; // q = M p
  int s = 1;
  bool restart = true; // p = z
  bool has_interval = false;
  ChebyshevInterval interval;
  std::vector<double> alphas, betas, sums;
  if (!run.replace(r, all.v[2])) return;
  run.precondition(r, z);
  const auto state = [&](StateList& list) {
    list.array("r", run.rows_of(r)).array("z", run.rows_of(z)).array("p", run.rows_of(p)).array("q", run.rows_of(q));
    list.number("s", s).number("restart", restart).number("has interval", has_interval).number("interval", interval);
    list.vector("alphas", alphas).vector("betas", betas);
  };
  while (true) {
    if (!run.at_iteration(state)) return;
    if (restart) {
      run.copy(r, q);
      run.copy(z, p);
    }
    BasisStep step(run, all, s, interval);
    const std::size_t m = step.columns();
    step.make_basis();
    sums.resize(m * (m + 1));
    run.gram(step.basis(), sums);
    const auto both = run.sum(sums);
    if (run.ended()) return;
    sums.assign(both.begin(), both.end());
    const auto g = std::span<const double>(sums).first(sums.size() / 2),
               h = std::span<const double>(sums).subspan(sums.size() / 2);
    Coordinates dx(m, 0.0), zc(m, 0.0), pc(m, 0.0);
    pc[0] = zc[1] = 1;
    double rz = form(g, zc, zc), drift = 0;
    Next next = run.judge(form(h, zc, zc), rz, false);
    bool breakdown = false;
    for (int j = 0; j < s && next == Next::go_on; ++j) {
      const Coordinates bp = step.times_b(pc);
      const double pAp = form(g, pc, bp);
      breakdown = !(pAp > 0);
      if (breakdown) {
        if (s == 1 && restart && run.fresh() && !run.is_positive(pAp)) return;
        break;
      }
      const double alpha = rz / pAp;
      for (std::size_t k = 0; k < m; ++k) dx[k] += alpha * pc[k], zc[k] -= alpha * bp[k];
      const double rz_next = form(g, zc, zc), beta = rz_next / rz;
      for (std::size_t k = 0; k < m; ++k) pc[k] = zc[k] + beta * pc[k];
      drift = std::max(drift, size_of(h, step.times_b(dx)) + size_of(h, zc));
      rz = rz_next;
      if (alphas.size() < warm_up) alphas.push_back(alpha), betas.push_back(beta);
      run.iterated();
      if (j + 1 == s) break; // the next step judges by new Gram matrices
      next = run.judge(form(h, zc, zc), rz, false);
    }
    run.combine(step.basis(), {dx, zc, pc}, {run.x(), r, z, q, p});
    if (next == Next::end) return;
    run.deviation.add(static_cast<double>(2 * m) * Deviation::unit * drift);
    restart = breakdown;
    if (breakdown) {
      s = std::max(1, s / 2); // the basis has become dependent
      next = Next::replace;
    } else if (!has_interval && most > 1 && alphas.size() == warm_up) {
      const RitzValues ritz = ritz_values(alphas, betas);
      interval = {(margin * ritz.greatest + ritz.least) / 2, (margin * ritz.greatest - ritz.least) / 2};
      s = most;
      has_interval = true;
    }
    if (next == Next::replace) {
      if (!run.replace(r, all.v[2])) return;
      run.precondition(r, z);
      run.precondition(q, p);
    }
  }
}

} // namespace kumihimo::krylov
