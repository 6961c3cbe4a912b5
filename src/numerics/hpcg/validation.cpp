#include "hpcg/validation.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace kumihimo::hpcg {
namespace {

void fill_random(threads::ThreadedArray<double>& x, std::uint64_t state) {
  for (double& each : x) { // splitmix64
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t word = state;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    each = 1 + static_cast<double>((word ^ (word >> 31)) >> 11) * 0x1p-53; // from 1 to 2, as HPCG has it
  }
}

} // namespace

Result<SymmetryCheck> test_symmetry(krylov::LinearSystem& system, krylov::Sums& sums) {
  HpcgVectors vectors(system.rows(), sums);
  threads::ThreadedArray<double> x = TRY(threads::ThreadedArray<double>::zeros(system.length()));
  threads::ThreadedArray<double> y = TRY(threads::ThreadedArray<double>::zeros(system.length()));
  threads::ThreadedArray<double> z = TRY(threads::ThreadedArray<double>::zeros(system.length()));
  fill_random(x, 1);
  fill_random(y, 2);
  const double xx = TRY(vectors.dot(x.data(), x.data())), yy = TRY(vectors.dot(y.data(), y.data()));
  const double scale = 2 * xx * yy * 52 * DBL_EPSILON;
  const auto departure = [&](const std::function<Status(double*, double*)>& apply) -> Result<double> {
    (void)TRY(apply(y.data(), z.data()));
    const double one = TRY(vectors.dot(x.data(), z.data()));
    (void)TRY(apply(x.data(), z.data()));
    const double other = TRY(vectors.dot(y.data(), z.data()));
    return std::fabs(one - other) / scale;
  };
  SymmetryCheck found;
  found.matrix = TRY(departure([&](double* in, double* out) { return system.multiply(in, out); }));
  found.preconditioner = TRY(departure([&](double* in, double* out) { return system.precondition(in, out); }));
  return found;
}

Result<Convergence> test_convergence(System& system, krylov::Sums& sums, const double* right_hand_side) {
  constexpr double factor = 1e6;
  const std::int64_t rows = system.rows();
  std::vector<double> first(static_cast<std::size_t>(rows), factor), ordered(first.size());
  for (std::size_t i = 0; i < 9; ++i) first[i] *= static_cast<double>(i + 2); // rows of the natural order
  system.to_system(first.data(), ordered.data());
  SlicedMatrix& matrix = system.finest();
  const std::vector<double> original(matrix.diagonal(), matrix.diagonal() + rows);
  std::vector<double> diagonal(original);
  threads::ThreadedArray<double> b = TRY(threads::ThreadedArray<double>::zeros(rows)),
                                 x = TRY(threads::ThreadedArray<double>::zeros(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    diagonal[static_cast<std::size_t>(i)] *= ordered[static_cast<std::size_t>(i)];
    b[i] = right_hand_side[i] * ordered[static_cast<std::size_t>(i)];
  }
  Cg cg = TRY(Cg::make(system, sums));
  matrix.set_diagonal(diagonal.data());
  const auto iterations = [&](bool preconditioned) -> Result<int> {
    std::fill(x.begin(), x.end(), 0.0);
    const CgResult done = TRY(cg.solve(b.data(), x.data(), 50, 1e-12, preconditioned));
    return done.iterations;
  };
  const Result<int> plain = iterations(false), preconditioned = iterations(true);
  matrix.set_diagonal(original.data());
  Convergence found;
  found.plain = TRY(plain);
  found.preconditioned = TRY(preconditioned);
  return found;
}

Repetition test_repetition(std::span<const double> reductions) {
  Repetition found;
  const double many = static_cast<double>(reductions.size());
  for (const double each : reductions) found.mean += each / many;
  for (const double each : reductions) found.variance += (each - found.mean) * (each - found.mean) / many;
  return found;
}

} // namespace kumihimo::hpcg
