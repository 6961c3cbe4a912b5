// The work of a GPU's threads on a chunk of quartets: some bra pairs of one kind with all kets of another.
//
// Way 1: a thread for each quartet computes its integrals and adds what they give to J and K by atomic operations.
// Way 2: a thread for each quartet writes its integrals to memory; then a thread for each element of J and K reads
// those that belong to it, and adds without atomic operations.
#pragma once

#include "hartree_fock/two_electron/cuda/quartet_thread.hpp"

#include <cstdint>

namespace kumihimo::hartree_fock::two_electron::cuda {

struct DevicePair {
  std::int32_t shell_a, shell_b, first_a, first_b; // as ShellPair
  double bound;
  std::int64_t numbers, bounds; // where they begin
  std::int32_t count;           // of products
};

// Pairs of one kind, by shells: those whose shell a is s are list_a[begin_a[s]] .. list_a[begin_a[s + 1] - 1].
struct DevicePairKind {
  const DevicePair* pairs;
  std::int32_t count;
  const std::int32_t *begin_a, *list_a, *begin_b, *list_b;
};

// Of a class: quartets of shells computed and left out, quartets of primitives.
struct QuartetCounts {
  unsigned long long quartets = 0, screened = 0, primitives = 0;
};
// What the thread of one quartet did.
struct QuartetWork {
  bool is_computed = false, is_screened = false; // neither: the quartet is counted elsewhere
  int primitives = 0;
};

struct QuartetChunk {
  DevicePairKind bra, ket;
  bool same_kind;
  const std::int32_t* bras;      // places of the chunk's bra pairs
  const std::int32_t* place_of;  // of each bra pair in the list of all chunks; -1: it is in none
  std::int32_t first, bra_count; // the chunk's part of that list

  const double *numbers, *bounds;
  const BoysTable* table;
  double threshold, cutoff;
  const double* density; // n by n
  const double* sums;    // of |D| over functions of two shells: shells by shells (ScreenedDensity)
  std::int32_t n, shells;
  const std::int32_t *shell_of, *first_of; // of functions; of shells

  double *integrals, *weights; // [integral][quartet]; [quartet]: quartet = place in bras * kets + ket
  double *j, *k;               // halves
  QuartetCounts* counts;       // of the class

  ON_BOTH std::int64_t quartets() const { return static_cast<std::int64_t>(bra_count) * ket.count; }
  ON_BOTH double d(int row, int column) const { return density[static_cast<std::int64_t>(row) * n + column]; }
};

ON_BOTH inline bool is_elsewhere(const QuartetChunk& chunk, std::int32_t bra_place, std::int32_t ket_place) {
  return chunk.same_kind && ket_place > bra_place;
}

// 1/2 for each pair of equal indices; 0: left out, or counted elsewhere.
ON_BOTH inline double weight_of(const QuartetChunk& chunk, std::int32_t bra_place, std::int32_t ket_place) {
  if (is_elsewhere(chunk, bra_place, ket_place)) return 0;
  const DevicePair &bra = chunk.bra.pairs[bra_place], &ket = chunk.ket.pairs[ket_place];
  const auto sum = [&](int a, int b) { return chunk.sums[static_cast<std::int64_t>(a) * chunk.shells + b]; };
  double largest = 2 * sum(ket.shell_a, ket.shell_b);
  const double others[5] = {2 * sum(bra.shell_a, bra.shell_b), sum(bra.shell_a, ket.shell_a),
                            sum(bra.shell_a, ket.shell_b), sum(bra.shell_b, ket.shell_a),
                            sum(bra.shell_b, ket.shell_b)};
  for (const double other : others) largest = other > largest ? other : largest;
  if (bra.bound * ket.bound * largest < chunk.threshold) return 0;
  return (bra.shell_a == bra.shell_b ? 0.5 : 1) * (ket.shell_a == ket.shell_b ? 0.5 : 1) *
         (chunk.same_kind && ket_place == bra_place ? 0.5 : 1);
}

ON_BOTH inline PairNumbers numbers_of(const QuartetChunk& chunk, const DevicePair& pair) {
  return {chunk.numbers + pair.numbers, chunk.bounds + pair.bounds, pair.count};
}

// Numbers of `half` of quartet_thread().
template <int Bra, int Ket>
inline constexpr int half_size = hermite_count(pair_kinds[Bra].order()) * pair_kinds[Ket].functions();

// --- Way 1

template <int Bra, int Ket, class Add>
ON_BOTH inline QuartetWork add_quartet(const QuartetChunk& chunk, std::int64_t quartet, double* half, int half_stride,
                                       const Add& add) {
  constexpr int na = pair_kinds[Bra].a.count(), nb = pair_kinds[Bra].b.count();
  constexpr int nc = pair_kinds[Ket].a.count(), nd = pair_kinds[Ket].b.count();
  const std::int32_t bra_place = chunk.bras[quartet / chunk.ket.count];
  const auto ket_place = static_cast<std::int32_t>(quartet % chunk.ket.count);
  const double weight = weight_of(chunk, bra_place, ket_place);
  if (weight == 0) return {false, !is_elsewhere(chunk, bra_place, ket_place)};
  const DevicePair &bra = chunk.bra.pairs[bra_place], &ket = chunk.ket.pairs[ket_place];
  double integrals[na * nb * nc * nd];
  const int primitives =
      quartet_thread<Bra, Ket>(numbers_of(chunk, bra), numbers_of(chunk, ket), chunk.cutoff, *chunk.table, half,
                               half_stride, [&](int i) -> double& { return integrals[i]; });
  const auto at = [&](double* matrix, int row, int column) {
    return matrix + static_cast<std::int64_t>(row) * chunk.n + column;
  };
  for (int i = 0; i < na * nb * nc * nd; ++i) {
    const int a = bra.first_a + i / (nb * nc * nd), b = bra.first_b + i / (nc * nd) % nb;
    const int c = ket.first_a + i / nd % nc, d = ket.first_b + i % nd;
    const double value = weight * integrals[i];
    add(at(chunk.j, a, b), 2 * value * chunk.d(c, d));
    add(at(chunk.j, c, d), 2 * value * chunk.d(a, b));
    add(at(chunk.k, a, c), value * chunk.d(b, d));
    add(at(chunk.k, a, d), value * chunk.d(b, c));
    add(at(chunk.k, b, c), value * chunk.d(a, d));
    add(at(chunk.k, b, d), value * chunk.d(a, c));
  }
  return {true, false, primitives};
}

// --- Way 2

template <int Bra, int Ket>
ON_BOTH inline QuartetWork store_quartet(const QuartetChunk& chunk, std::int64_t quartet, double* half,
                                         int half_stride) {
  const std::int32_t bra_place = chunk.bras[quartet / chunk.ket.count];
  const auto ket_place = static_cast<std::int32_t>(quartet % chunk.ket.count);
  const double weight = chunk.weights[quartet] = weight_of(chunk, bra_place, ket_place);
  if (weight == 0) return {false, !is_elsewhere(chunk, bra_place, ket_place)};
  const DevicePair &bra = chunk.bra.pairs[bra_place], &ket = chunk.ket.pairs[ket_place];
  return {true, false,
          quartet_thread<Bra, Ket>(numbers_of(chunk, bra), numbers_of(chunk, ket), chunk.cutoff, *chunk.table, half,
                                   half_stride, [&](int i) -> double& {
                                     return chunk.integrals[static_cast<std::int64_t>(i) * chunk.quartets() + quartet];
                                   })};
}

// A stored quartet, as the sums below read it.
template <int Bra, int Ket>
struct Stored {
  const QuartetChunk& chunk;
  std::int64_t quartet;
  double weight;
  ON_BOTH Stored(const QuartetChunk& of, std::int32_t place, std::int32_t ket)
      : chunk(of), quartet(static_cast<std::int64_t>(place) * of.ket.count + ket), weight(of.weights[quartet]) {}
  // Of functions a, b, c, d of the four shells.
  ON_BOTH double operator()(int a, int b, int c, int d) const {
    constexpr int nb = pair_kinds[Bra].b.count(), nc = pair_kinds[Ket].a.count(), nd = pair_kinds[Ket].b.count();
    return chunk.integrals[(((static_cast<std::int64_t>(a) * nb + b) * nc + c) * nd + d) * chunk.quartets() + quartet];
  }
};

// Thread `number` below bra pairs of the chunk times their functions: one element of J, from all kets.
template <int Bra, int Ket>
ON_BOTH inline void gather_bra_coulomb(const QuartetChunk& chunk, std::int64_t number) {
  constexpr int nb = pair_kinds[Bra].b.count(), functions = pair_kinds[Bra].functions();
  constexpr int nc = pair_kinds[Ket].a.count(), nd = pair_kinds[Ket].b.count();
  const auto place = static_cast<std::int32_t>(number / functions);
  const int a = static_cast<int>(number % functions) / nb, b = static_cast<int>(number % functions) % nb;
  double sum = 0;
  for (std::int32_t ket = 0; ket < chunk.ket.count; ++ket) {
    const Stored<Bra, Ket> integrals(chunk, place, ket);
    if (integrals.weight == 0) continue;
    const DevicePair& pair = chunk.ket.pairs[ket];
    double part = 0;
    for (int c = 0; c < nc; ++c)
      for (int d = 0; d < nd; ++d) part += integrals(a, b, c, d) * chunk.d(pair.first_a + c, pair.first_b + d);
    sum += integrals.weight * part;
  }
  const DevicePair& bra = chunk.bra.pairs[chunk.bras[place]];
  chunk.j[static_cast<std::int64_t>(bra.first_a + a) * chunk.n + bra.first_b + b] += 2 * sum;
}

// Thread `number` below ket pairs times their functions: one element of J, from the chunk's bra pairs.
template <int Bra, int Ket>
ON_BOTH inline void gather_ket_coulomb(const QuartetChunk& chunk, std::int64_t number) {
  constexpr int na = pair_kinds[Bra].a.count(), nb = pair_kinds[Bra].b.count();
  constexpr int nd = pair_kinds[Ket].b.count(), functions = pair_kinds[Ket].functions();
  const auto ket = static_cast<std::int32_t>(number / functions);
  const int c = static_cast<int>(number % functions) / nd, d = static_cast<int>(number % functions) % nd;
  double sum = 0;
  for (std::int32_t place = 0; place < chunk.bra_count; ++place) {
    const Stored<Bra, Ket> integrals(chunk, place, ket);
    if (integrals.weight == 0) continue;
    const DevicePair& pair = chunk.bra.pairs[chunk.bras[place]];
    double part = 0;
    for (int a = 0; a < na; ++a)
      for (int b = 0; b < nb; ++b) part += integrals(a, b, c, d) * chunk.d(pair.first_a + a, pair.first_b + b);
    sum += integrals.weight * part;
  }
  const DevicePair& pair = chunk.ket.pairs[ket];
  chunk.j[static_cast<std::int64_t>(pair.first_a + c) * chunk.n + pair.first_b + d] += 2 * sum;
}

// The part of K_ik by quartets in which i is of shell a (or b) of the bra and k of shell a (or b) of the ket.
template <int Bra, int Ket, bool OfA, bool OfC>
ON_BOTH inline double exchange_part(const QuartetChunk& chunk, int i, int k) {
  constexpr int others = OfA ? pair_kinds[Bra].b.count() : pair_kinds[Bra].a.count();
  constexpr int ket_others = OfC ? pair_kinds[Ket].b.count() : pair_kinds[Ket].a.count();
  const int shell = chunk.shell_of[i], ket_shell = chunk.shell_of[k];
  const int own = i - chunk.first_of[shell], ket_own = k - chunk.first_of[ket_shell];
  const std::int32_t* const begin = OfA ? chunk.bra.begin_a : chunk.bra.begin_b;
  const std::int32_t* const list = OfA ? chunk.bra.list_a : chunk.bra.list_b;
  const std::int32_t* const ket_begin = OfC ? chunk.ket.begin_a : chunk.ket.begin_b;
  const std::int32_t* const ket_list = OfC ? chunk.ket.list_a : chunk.ket.list_b;
  double sum = 0;
  for (std::int32_t x = begin[shell]; x < begin[shell + 1]; ++x) {
    const std::int32_t place = chunk.place_of[list[x]] - chunk.first;
    if (place < 0 || place >= chunk.bra_count) continue;
    const DevicePair& bra = chunk.bra.pairs[list[x]];
    const int first = OfA ? bra.first_b : bra.first_a;
    for (std::int32_t y = ket_begin[ket_shell]; y < ket_begin[ket_shell + 1]; ++y) {
      const Stored<Bra, Ket> integrals(chunk, place, ket_list[y]);
      if (integrals.weight == 0) continue;
      const DevicePair& ket = chunk.ket.pairs[ket_list[y]];
      const int ket_first = OfC ? ket.first_b : ket.first_a;
      double part = 0;
      for (int b = 0; b < others; ++b)
        for (int d = 0; d < ket_others; ++d)
          part += chunk.d(first + b, ket_first + d) *
                  integrals(OfA ? own : b, OfA ? b : own, OfC ? ket_own : d, OfC ? d : ket_own);
      sum += integrals.weight * part;
    }
  }
  return sum;
}

// Thread `number` below n n: one element of K.
template <int Bra, int Ket>
ON_BOTH inline void gather_exchange(const QuartetChunk& chunk, std::int64_t number) {
  const int i = static_cast<int>(number / chunk.n), k = static_cast<int>(number % chunk.n);
  chunk.k[number] +=
      exchange_part<Bra, Ket, true, true>(chunk, i, k) + exchange_part<Bra, Ket, true, false>(chunk, i, k) +
      exchange_part<Bra, Ket, false, true>(chunk, i, k) + exchange_part<Bra, Ket, false, false>(chunk, i, k);
}

} // namespace kumihimo::hartree_fock::two_electron::cuda
