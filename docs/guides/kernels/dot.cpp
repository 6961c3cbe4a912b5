#include <kumihimo/kernel.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

KUMIHIMO_FUNCTION(double, dot, (const double* x, const double* y, long n), {
  double s = 0;
  for (long i = 0; i < n; ++i) s += x[i] * y[i];
  return s;
})

KUMIHIMO_FUNCTION(double, dot_of_magnitudes, (const double* x, const double* y, long n), {
  double s = 0;
  for (long i = 0; i < n; ++i) s += std::abs(x[i] * y[i]);
  return s;
})

KUMIHIMO_FUNCTION(double, dot_by_two, (const double* x, const double* y, long n), {
  double even = 0, odd = 0;
  for (long i = 0; i + 1 < n; i += 2) even += x[i] * y[i], odd += x[i + 1] * y[i + 1];
  return n % 2 ? even + odd + x[n - 1] * y[n - 1] : even + odd;
})

KUMIHIMO_FUNCTION(double, dot_short, (const double* x, const double* y, long n), {
  double s = 0;
  for (long i = 0; i + 1 < n; ++i) s += x[i] * y[i]; // forgets the last element
  return s;
})

using Dot = double(const double*, const double*, long);
using kumihimo::kernel::Data;
using kumihimo::kernel::Kernel;

static const Kernel<Dot> fast_dot = Kernel<Dot>("dot", KUMIHIMO_CODE(dot))
                                        .hint("precious, 100 to 10,000 trips, even, unroll, SIMD and tune")
                                        .size([](const double*, const double*, long n) { return n; })
                                        .inputs([](Data& data, long n) {
                                          return std::tuple{data.input<double>(n), data.input<double>(n), n};
                                        })
                                        .bound([](long n) { return 2 * n; }, dot_of_magnitudes)
                                        .edges({"zeros", "huge", "tiny"})
                                        .variant("by_two", KUMIHIMO_CODE(dot_by_two))
                                        .variant("short", KUMIHIMO_CODE(dot_short))
                                        .loop("double s = 0;", "s += x[i] * y[i];", "return s;", {"s"});

int main() {
  const std::vector<double> x(1000, 1.5), y(1000, 2.0);
  std::printf("%g\n", fast_dot(x.data(), y.data(), 1000));
}
