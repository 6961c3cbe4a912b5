#include "hartree_fock/two_electron/density.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::hartree_fock::two_electron {

ScreenedDensity::ScreenedDensity(const Matrix& density, std::span<const Shell> of)
    : matrix(density), shells(static_cast<int>(of.size())), sums(of.size() * of.size()) {
  double* to = sums.data();
  for (const Shell& a : of)
    for (const Shell& b : of) {
      double sum = 0;
      for (int i = 0; i < a.functions(); ++i)
        for (int j = 0; j < b.functions(); ++j) sum += std::abs(density(a.first + i, b.first + j));
      largest = std::max(largest, sum);
      *to++ = sum;
    }
}

} // namespace kumihimo::hartree_fock::two_electron
