// What a peer prints: one JSON object on one line, which compare.py reads. All peers solve sparse::poisson_matrix() of
// a cube with unit right-hand side to a residual of `tolerance`, relative to it.
#pragma once

#include "sparse/poisson.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace kumihimo::peers {

inline constexpr double tolerance = 1e-8;
inline constexpr int most_iterations = 3000;

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of the size in the first argument. Ends the program where it is none.
inline sparse::CrsMatrix matrix_of(int count, char** arguments) {
  const int size = count > 1 ? std::atoi(arguments[1]) : 0;
  Result<sparse::CrsMatrix> made = sparse::poisson_matrix({size, size, size});
  if (made) return std::move(*made);
  std::fprintf(stderr, "%s\n", made.error().sentence().c_str());
  std::exit(1);
}

// |b - A x| / |b| with b = 1.
inline double relative_residual(const sparse::CrsMatrix& a, const double* x) {
  double squares = 0;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    double r = 1;
    for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k) r -= a.value[k] * x[a.column[k]];
    squares += r * r;
  }
  return std::sqrt(squares / a.rows);
}

inline void report(int iterations, double set_up_seconds, double seconds, double residual) {
  std::printf("{\"iterations\": %d, \"setup_seconds\": %.6f, \"seconds\": %.6f, \"residual\": %.3e}\n", iterations,
              set_up_seconds, seconds, residual);
}

} // namespace kumihimo::peers
