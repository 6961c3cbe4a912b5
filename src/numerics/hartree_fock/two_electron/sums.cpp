#include "hartree_fock/two_electron/sums.hpp"

namespace kumihimo::hartree_fock::two_electron {
namespace {

template <class T, class Value>
CoulombExchange add_transposed(const SumHalves<T>& halves, Value&& value) {
  CoulombExchange made{Matrix(halves.size), Matrix(halves.size)};
  const std::ptrdiff_t n = halves.size;
  const T* from = halves.values.data();
  for (Matrix* const to : {&made.j, &made.k}) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) (*to)(i, j) = value(from[i * n + j] + from[j * n + i]);
    from += n * n;
  }
  return made;
}

} // namespace

double fixed_scale(double largest) {
  int exponent = 0;
  std::frexp(largest, &exponent); // largest < 2^exponent
  return std::ldexp(1.0, 62 - exponent);
}

CoulombExchange symmetrised(const SumHalves<double>& halves) {
  return add_transposed(halves, [](double sum) { return sum; });
}

CoulombExchange symmetrised(const SumHalves<std::uint64_t>& halves, double scale) {
  return add_transposed(halves,
                        [&](std::uint64_t sum) { return static_cast<double>(static_cast<std::int64_t>(sum)) / scale; });
}

} // namespace kumihimo::hartree_fock::two_electron
