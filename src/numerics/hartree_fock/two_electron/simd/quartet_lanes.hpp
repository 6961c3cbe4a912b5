// Integrals of shell quartets, a bra pair in each lane, and what they add to J and K.
//
// (ab|cd) = sum over primitive products P of ab and Q of cd, over Hermite functions t of P and s of Q, of
//   E^ab_t E^cd_s (-1)^|s| R_(t+s) / sqrt(p + q),   rho = p q / (p + q),
// with 2 pi^(5/2) / (p q) in the two E (McMurchie and Davidson, J. Comput. Phys. 26 (1978) 218, equation 4.4; T.
// Helgaker, P. Jorgensen, J. Olsen, Molecular Electronic-Structure Theory, 2000, equation 9.9.33). The loop over Q is
// the inner one: for each P it gives sums over Hermite functions of the bra and functions of the ket, which the E of
// the bra then turn into functions of the bra. All functions of sp shells share exponents, F_m and R.
#pragma once

#include "hartree_fock/two_electron/kernels.hpp"
#include "hartree_fock/two_electron/simd/hermite_lanes.hpp"

namespace kumihimo::hartree_fock::two_electron {
namespace {

// sums[f] += E_f,s hermite[t + s] for all terms (f, s) of a ket, whose E are the same in all lanes.
template <int Ket, class V, std::size_t... I>
KUMIHIMO_INLINE void add_ket_terms(const double* e, const V* const (&at)[product_hermites], V* sums,
                                   std::index_sequence<I...>) {
  constexpr int functions = pair_kinds[Ket].functions();
  V sum[functions];
  for (int f = 0; f < functions; ++f) sum[f] = sums[f];
  ((sum[kind_terms[Ket].of[I].function] += e[I] * *at[kind_terms[Ket].of[I].hermite]), ...);
  for (int f = 0; f < functions; ++f) sums[f] = sum[f];
}

template <int W, int Bra, int Ket>
std::int64_t integrals_lanes(const Products& bra, const Products& ket, double cutoff, double* integrals) {
  using V = Lanes<double, W>;
  constexpr int order = pair_kinds[Bra].order() + pair_kinds[Ket].order();
  constexpr int ket_functions = pair_kinds[Ket].functions();
  constexpr int bra_hermites = hermite_count(pair_kinds[Bra].order()),
                ket_hermites = hermite_count(pair_kinds[Ket].order());
  constexpr Terms bra_terms = kind_terms[Bra];
  constexpr int bra_numbers = numbers_before_terms + bra_terms.count;
  constexpr int ket_numbers = numbers_before_terms + kind_terms[Ket].count;
  const BoysTable& table = boys_table();
  V whole[pair_kinds[Bra].functions() * ket_functions] = {};
  std::int64_t computed = 0;
  for (int i = 0; i < bra.count; ++i) {
    const double* const numbers = bra.numbers + static_cast<std::int64_t>(i) * bra_numbers * W;
    const V p = load<V>(numbers), x = load<V>(numbers + W), y = load<V>(numbers + 2 * W), z = load<V>(numbers + 3 * W);
    V half[bra_hermites * ket_functions] = {};
    int k = 0;
    for (; k < ket.count && bra.bounds[i] * ket.bounds[k] >= cutoff; ++k) {
      const double* const of_ket = ket.numbers + static_cast<std::int64_t>(k) * ket_numbers;
      const V r[3] = {x - of_ket[1], y - of_ket[2], z - of_ket[3]};
      const V root = inverse_root<W>(p + of_ket[0]);
      V hermite[hermite_count(order)];
      hermite_integrals<W, order>(r, p * of_ket[0] * root * root, root, table, hermite);
      for (int t = 0; t < bra_hermites; ++t) {
        const V* at[product_hermites];
        for (int s = 0; s < ket_hermites; ++s) at[s] = hermite + sum_of[t][s];
        add_ket_terms<Ket>(of_ket + numbers_before_terms, at, half + t * ket_functions,
                           std::make_index_sequence<kind_terms[Ket].count>{});
      }
    }
    if (k == 0) break; // the bounds fall: none of the next has a partner
    computed += k;
    for (int term = 0; term < bra_terms.count; ++term) {
      const V e = load<V>(numbers + (numbers_before_terms + term) * W);
      V* const to = whole + bra_terms.of[term].function * ket_functions;
      const V* const from = half + bra_terms.of[term].hermite * ket_functions;
      for (int f = 0; f < ket_functions; ++f) to[f] += e * from[f];
    }
  }
  std::memcpy(integrals, whole, sizeof whole);
  return computed;
}

// One integral adds to six sums; the four indices run over the functions of the four shells. Sums over d stay in
// registers.
template <int W, int Bra, int Ket>
void contract_lanes(const double* integrals, const double* weights, const QuartetDensities& densities,
                    const QuartetSums& sums) {
  using V = Lanes<double, W>;
  constexpr int na = pair_kinds[Bra].a.count(), nb = pair_kinds[Bra].b.count();
  constexpr int nc = pair_kinds[Ket].a.count(), nd = pair_kinds[Ket].b.count();
  const V weight = load<V>(weights);
  V j_cd[nc * nd] = {}, k_ac[na * nc] = {}, k_ad[na * nd] = {}, k_bc[nb * nc] = {}, k_bd[nb * nd] = {};
  for (int a = 0; a < na; ++a)
    for (int b = 0; b < nb; ++b) {
      V j_ab = {};
      const V d_ab = load<V>(densities.ab + (a * nb + b) * W);
      for (int c = 0; c < nc; ++c) {
        const V d_ac = load<V>(densities.ac + (a * nc + c) * W), d_bc = load<V>(densities.bc + (b * nc + c) * W);
        V sum_ac = {}, sum_bc = {};
        for (int d = 0; d < nd; ++d) {
          const V value = weight * load<V>(integrals + (((a * nb + b) * nc + c) * nd + d) * W);
          j_ab += densities.cd[c * nd + d] * value;
          j_cd[c * nd + d] += d_ab * value;
          sum_ac += load<V>(densities.bd + (b * nd + d) * W) * value;
          sum_bc += load<V>(densities.ad + (a * nd + d) * W) * value;
          k_ad[a * nd + d] += d_bc * value;
          k_bd[b * nd + d] += d_ac * value;
        }
        k_ac[a * nc + c] += sum_ac;
        k_bc[b * nc + c] += sum_bc;
      }
      store(sums.j_ab + (a * nb + b) * W, 2.0 * j_ab);
    }
  for (int i = 0; i < nc * nd; ++i) {
    double sum = 0;
    for (int lane = 0; lane < W; ++lane) sum += j_cd[i][lane];
    sums.j_cd[i] = 2 * sum;
  }
  std::memcpy(sums.k_ac, k_ac, sizeof k_ac);
  std::memcpy(sums.k_ad, k_ad, sizeof k_ad);
  std::memcpy(sums.k_bc, k_bc, sizeof k_bc);
  std::memcpy(sums.k_bd, k_bd, sizeof k_bd);
}

template <int W, int Bra, int Ket>
constexpr QuartetKernels quartet_kernels{integrals_lanes<W, Bra, Ket>, contract_lanes<W, Bra, Ket>};

template <int W>
constexpr LaneKernels make_kernels() {
  LaneKernels made;
  made.lanes = W;
  made.of[kind_ss][kind_ss] = quartet_kernels<W, kind_ss, kind_ss>;
  made.of[kind_ps][kind_ss] = quartet_kernels<W, kind_ps, kind_ss>;
  made.of[kind_ps][kind_ps] = quartet_kernels<W, kind_ps, kind_ps>;
  made.of[kind_pp][kind_ss] = quartet_kernels<W, kind_pp, kind_ss>;
  made.of[kind_pp][kind_ps] = quartet_kernels<W, kind_pp, kind_ps>;
  made.of[kind_pp][kind_pp] = quartet_kernels<W, kind_pp, kind_pp>;
  made.of[kind_ls][kind_ss] = quartet_kernels<W, kind_ls, kind_ss>;
  made.of[kind_ls][kind_ls] = quartet_kernels<W, kind_ls, kind_ls>;
  made.of[kind_ll][kind_ss] = quartet_kernels<W, kind_ll, kind_ss>;
  made.of[kind_ll][kind_ls] = quartet_kernels<W, kind_ll, kind_ls>;
  made.of[kind_ll][kind_ll] = quartet_kernels<W, kind_ll, kind_ll>;
  return made;
}

} // namespace
} // namespace kumihimo::hartree_fock::two_electron
