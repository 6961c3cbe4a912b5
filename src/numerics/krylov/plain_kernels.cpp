// The golden copies of the vector kernels.
#include "krylov/vector_kernels.hpp"

namespace kumihimo::krylov {
namespace {

double dot(std::int64_t n, const double* x, const double* y) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}
void add(std::int64_t n, double* y, double a, const double* x) { // y += a x
  for (std::int64_t i = 0; i < n; ++i) y[i] = y[i] + a * x[i];
}
void subtract(std::int64_t n, double* y, double a, const double* x) { // y -= a x
  for (std::int64_t i = 0; i < n; ++i) y[i] = y[i] - a * x[i];
}
void follow(std::int64_t n, double* y, const double* x, double b) { // y = x + b y
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] + b * y[i];
}

SumArray square(const Operands& o, std::int64_t n) { return {dot(n, o.vectors[0], o.vectors[0])}; }

SumArray residual(const Operands& o, std::int64_t n) {
  const auto [b, t, r] = std::array{o.vectors[0], o.vectors[1], o.vectors[2]};
  SumArray sums{};
  for (std::int64_t i = 0; i < n; ++i) {
    t[i] = b[i] - t[i];
    const double d = t[i] - r[i];
    sums[0] += d * d;
    sums[1] += t[i] * t[i];
    r[i] = t[i];
  }
  return sums;
}

SumArray dot(const Operands& o, std::int64_t n) { return {dot(n, o.vectors[0], o.vectors[1])}; }

SumArray dots_residual(const Operands& o, std::int64_t n) {
  const auto [r, u, w] = std::array{o.vectors[0], o.vectors[1], o.vectors[2]};
  return {dot(n, r, u), dot(n, w, u), dot(n, r, r)};
}

SumArray dots_direction(const Operands& o, std::int64_t n) {
  const auto [p, s] = std::array{o.vectors[0], o.vectors[1]};
  return {dot(n, p, s), dot(n, p, p), dot(n, s, s)};
}

SumArray direction(const Operands& o, std::int64_t n) {
  follow(n, o.vectors[0], o.vectors[1], o.beta);
  return {};
}

SumArray cg_advance(const Operands& o, std::int64_t n) {
  const auto [x, r, p, s] = std::array{o.vectors[0], o.vectors[1], o.vectors[2], o.vectors[3]};
  add(n, x, o.alpha, p);
  subtract(n, r, o.alpha, s);
  return {dot(n, r, r)};
}

SumArray gear_advance(const Operands& o, std::int64_t n) {
  const auto [x, r, p, s, u, w] =
      std::array{o.vectors[0], o.vectors[1], o.vectors[2], o.vectors[3], o.vectors[4], o.vectors[5]};
  follow(n, p, u, o.beta);
  follow(n, s, w, o.beta);
  add(n, x, o.alpha, p);
  subtract(n, r, o.alpha, s);
  return {dot(n, r, r), dot(n, p, p), dot(n, s, s)};
}

SumArray gropp_advance(const Operands& o, std::int64_t n) {
  const auto [x, r, z, p, s, q] =
      std::array{o.vectors[0], o.vectors[1], o.vectors[2], o.vectors[3], o.vectors[4], o.vectors[5]};
  add(n, x, o.alpha, p);
  subtract(n, r, o.alpha, s);
  subtract(n, z, o.alpha, q);
  return {dot(n, r, z), dot(n, r, r)};
}

SumArray gropp_directions(const Operands& o, std::int64_t n) {
  const auto [p, s, z, w] = std::array{o.vectors[0], o.vectors[1], o.vectors[2], o.vectors[3]};
  follow(n, p, z, o.beta);
  follow(n, s, w, o.beta);
  return {dot(n, p, s), dot(n, p, p), dot(n, s, s)};
}

SumArray pipelined_advance(const Operands& o, std::int64_t rows) {
  const auto [x, r, u, w, p, s, q, z, m, n] = o.vectors;
  follow(rows, z, n, o.beta);
  follow(rows, q, m, o.beta);
  follow(rows, s, w, o.beta);
  follow(rows, p, u, o.beta);
  add(rows, x, o.alpha, p);
  subtract(rows, r, o.alpha, s);
  subtract(rows, u, o.alpha, q);
  subtract(rows, w, o.alpha, z);
  return {dot(rows, r, u), dot(rows, w, u), dot(rows, r, r), dot(rows, p, p), dot(rows, s, s),
          dot(rows, q, q), dot(rows, z, z), dot(rows, u, u), dot(rows, w, w)};
}

} // namespace

SumArray run_plain(VectorKernel kernel, const Operands& operands, std::int64_t rows) {
  switch (kernel) {
#define VECTOR_KERNEL(name, ...)                                                                                       \
  case VectorKernel::name:                                                                                             \
    return name(operands, rows);
#include "krylov/vector_kernels.def"
#undef VECTOR_KERNEL
  }
  return {};
}

} // namespace kumihimo::krylov
