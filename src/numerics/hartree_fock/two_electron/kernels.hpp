// The kernels of the two-electron part, as their callers see them: one set of them for each set of instructions. Each
// lane of a vector holds another bra pair; the ket pair is the same in all lanes.
#pragma once

#include <array>
#include <cstdint>

namespace kumihimo::hartree_fock::two_electron {

// Primitive products of one shell pair, in the order of falling bounds. A product's numbers are, `stride` apart: its
// exponent p, its centre P (x, y, z), and the coefficients E of the Hermite functions that stand in its functions
// (kind_terms), which contain sqrt(2) pi^(5/4) / p. In the lanes of a block, the numbers of its pairs are side by side.
struct Products {
  const double* numbers = nullptr;
  const double* bounds = nullptr; // of a product: >= sqrt(|(ab|ab)|) of its primitives, all lanes
  int count = 0;
};
inline constexpr int numbers_before_terms = 4;

// The integrals (ab|cd) of a block of bra pairs and one ket pair. integrals[ab][cd][lane]. Primitive quartets whose
// bounds have a product below `cutoff` are left out. Returns the number of primitive quartets computed, per lane.
using IntegralsKernel = std::int64_t (*)(const Products& bra, const Products& ket, double cutoff, double* integrals);

// The part of J and K of these integrals: all sums over the quartet's own functions. Densities and sums are blocks of
// the functions of two shells, rows first, with lanes side by side; those of cd have no lanes.
struct QuartetDensities {
  const double *ab, *cd, *ac, *ad, *bc, *bd;
};
struct QuartetSums {
  double *j_ab, *j_cd, *k_ac, *k_ad, *k_bc, *k_bd;
};
// J_ab += 2 w D_cd (ab|cd), J_cd += 2 w D_ab (ab|cd), K_ac += w D_bd (ab|cd), and so on; weights w[lane].
using ContractKernel = void (*)(const double* integrals, const double* weights, const QuartetDensities& densities,
                                const QuartetSums& sums);

struct QuartetKernels {
  IntegralsKernel integrals = nullptr;
  ContractKernel contract = nullptr;
};
inline constexpr int most_lanes = 8;
struct LaneKernels {
  int lanes = 0;
  // [kind of bra][kind of ket]; none if the ket's kind is above the bra's or they belong to different splits
  std::array<std::array<QuartetKernels, 5>, 5> of{};
};

} // namespace kumihimo::hartree_fock::two_electron
