// Where the parts of J and K of quartets are added up: matrices of doubles, of one thread or of all (atomic), or of
// integers, whose sums do not depend on their order.
#pragma once

#include "hartree_fock/two_electron.hpp"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

namespace kumihimo::hartree_fock::two_electron {

// A pair of square matrices of numbers T, side by side: first J, then K, neither symmetric yet.
template <class T>
struct SumHalves {
  int size = 0;
  std::vector<T> values;

  explicit SumHalves(int n) : size(n), values(2 * static_cast<std::size_t>(n) * n) {}
  T* j() { return values.data(); }
  T* k() { return values.data() + values.size() / 2; }
};

struct AddPlain {
  double* to;
  void operator()(std::ptrdiff_t at, double value) const { to[at] += value; }
};
struct AddAtomic {
  double* to;
  void operator()(std::ptrdiff_t at, double value) const {
    std::atomic_ref(to[at]).fetch_add(value, std::memory_order_relaxed);
  }
};
// Fixed point, multiples of 1 / scale: each part is rounded once, and integers add up without rounding. So the sum is
// the same in any order, over any threads and ranks. Sums on the way may wrap around; the last one fits.
struct AddFixed {
  std::uint64_t* to;
  double scale;
  void operator()(std::ptrdiff_t at, double value) const {
    to[at] += static_cast<std::uint64_t>(std::llrint(value * scale));
  }
};
struct AddAtomicFixed {
  std::uint64_t* to;
  double scale;
  void operator()(std::ptrdiff_t at, double value) const {
    std::atomic_ref(to[at]).fetch_add(static_cast<std::uint64_t>(std::llrint(value * scale)),
                                      std::memory_order_relaxed);
  }
};
// A power of two with which numbers up to `largest` fit 63 bits.
double fixed_scale(double largest);

// J = X_j + X_j^T and K = X_k + X_k^T.
CoulombExchange symmetrised(const SumHalves<double>& halves);
CoulombExchange symmetrised(const SumHalves<std::uint64_t>& halves, double scale);

} // namespace kumihimo::hartree_fock::two_electron
