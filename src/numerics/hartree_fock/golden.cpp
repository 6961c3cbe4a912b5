#include "hartree_fock/golden.hpp"

#include "hartree_fock/hermite.hpp"
#include "hartree_fock/primitive.hpp"

#include <cmath>
#include <numbers>

namespace kumihimo::hartree_fock {
namespace {

// (ab|cd) of four primitives, equation 9.9.33: 2 pi^(5/2) / (p q sqrt(p + q)) times the sum over Hermite functions
// E^ab_tuv E^cd_tau_nu_phi (-1)^(tau + nu + phi) R_(t+tau)(u+nu)(v+phi).
double primitive_repulsion(const Powers& a, const Powers& b, const Powers& c, const Powers& d, const HermitePair& ab,
                           const HermitePair& cd, const HermiteCoulomb& r) {
  double sum = 0;
  for (int t = 0; t <= a[0] + b[0]; ++t)
    for (int u = 0; u <= a[1] + b[1]; ++u)
      for (int v = 0; v <= a[2] + b[2]; ++v) {
        const double e_ab = ab.e[0][a[0]][b[0]][t] * ab.e[1][a[1]][b[1]][u] * ab.e[2][a[2]][b[2]][v];
        for (int tau = 0; tau <= c[0] + d[0]; ++tau)
          for (int nu = 0; nu <= c[1] + d[1]; ++nu)
            for (int phi = 0; phi <= c[2] + d[2]; ++phi) {
              const double e_cd = cd.e[0][c[0]][d[0]][tau] * cd.e[1][c[1]][d[1]][nu] * cd.e[2][c[2]][d[2]][phi];
              sum += e_ab * e_cd * ((tau + nu + phi) % 2 == 0 ? 1 : -1) * r.at[t + tau][u + nu][v + phi];
            }
      }
  return sum;
}

} // namespace

std::vector<double> repulsion_golden(const Shell& a, const Shell& b, const Shell& c, const Shell& d) {
  const int total = a.functions() * b.functions() * c.functions() * d.functions();
  const int order = (!a.p.empty()) + (!b.p.empty()) + (!c.p.empty()) + (!d.p.empty());
  std::vector<double> integrals(static_cast<std::size_t>(total));
  for (std::size_t i = 0; i < a.exponents.size(); ++i)
    for (std::size_t j = 0; j < b.exponents.size(); ++j)
      for (std::size_t k = 0; k < c.exponents.size(); ++k)
        for (std::size_t l = 0; l < d.exponents.size(); ++l) {
          const HermitePair ab(a.exponents[i], a.center, b.exponents[j], b.center);
          const HermitePair cd(c.exponents[k], c.center, d.exponents[l], d.center);
          const double p = ab.exponent, q = cd.exponent;
          const HermiteCoulomb r(p * q / (p + q), ab.center, cd.center, order);
          const double factor = 2 * std::pow(std::numbers::pi, 2.5) / (p * q * std::sqrt(p + q));
          std::size_t at = 0;
          for (int fa = 0; fa < a.functions(); ++fa)
            for (int fb = 0; fb < b.functions(); ++fb)
              for (int fc = 0; fc < c.functions(); ++fc)
                for (int fd = 0; fd < d.functions(); ++fd) {
                  const PrimitiveFunction f = function_of(a, i, fa), g = function_of(b, j, fb);
                  const PrimitiveFunction h = function_of(c, k, fc), m = function_of(d, l, fd);
                  integrals[at++] += factor * f.coefficient * g.coefficient * h.coefficient * m.coefficient *
                                     primitive_repulsion(f.powers, g.powers, h.powers, m.powers, ab, cd, r);
                }
        }
  return integrals;
}

std::vector<double> g_block_golden(const Basis& basis, const Matrix& density, const Shell& a, const Shell& b) {
  std::vector<double> g(static_cast<std::size_t>(a.functions() * b.functions()));
  for (const Shell& c : basis.shells)
    for (const Shell& d : basis.shells) {
      const std::vector<double> coulomb = repulsion_golden(a, b, c, d), exchange = repulsion_golden(a, c, b, d);
      const int nb = b.functions(), nc = c.functions(), nd = d.functions();
      for (int i = 0; i < a.functions(); ++i)
        for (int j = 0; j < nb; ++j)
          for (int k = 0; k < nc; ++k)
            for (int l = 0; l < nd; ++l)
              g[i * nb + j] += density(c.first + k, d.first + l) * (coulomb[((i * nb + j) * nc + k) * nd + l] -
                                                                    0.5 * exchange[((i * nc + k) * nb + j) * nd + l]);
    }
  return g;
}

CoulombExchange coulomb_exchange_golden(const Basis& basis, const Matrix& density) {
  CoulombExchange found{Matrix(basis.functions), Matrix(basis.functions)};
  for (const Shell& a : basis.shells)
    for (const Shell& b : basis.shells)
      for (const Shell& c : basis.shells)
        for (const Shell& d : basis.shells) {
          const std::vector<double> integrals = repulsion_golden(a, b, c, d);
          std::size_t at = 0;
          for (int i = a.first; i < a.first + a.functions(); ++i)
            for (int j = b.first; j < b.first + b.functions(); ++j)
              for (int k = c.first; k < c.first + c.functions(); ++k)
                for (int l = d.first; l < d.first + d.functions(); ++l) {
                  const double ijkl = integrals[at++];
                  found.j(i, j) += density(k, l) * ijkl;
                  found.k(i, k) += density(j, l) * ijkl;
                }
        }
  return found;
}

Matrix g_matrix_golden(const Basis& basis, const Matrix& density) {
  return g_matrix(coulomb_exchange_golden(basis, density));
}

} // namespace kumihimo::hartree_fock
