#include "hpcg/kernels.hpp"

#include "threads/processor_clones.hpp"

#define INLINED static inline __attribute__((always_inline))

namespace kumihimo::hpcg {
namespace {

typedef double Four __attribute__((vector_size(32), aligned(32), may_alias));

// sum[lane] += entries of slice s times x. Vectors are put together from single loads: the gather instructions of many
// processors are slower.
INLINED void add_slice(const SlicedView& a, std::int64_t s, const double* x, double* sum) {
  static_assert(lanes == 8);
  Four low = *reinterpret_cast<Four*>(sum), high = *reinterpret_cast<Four*>(sum + 4);
  const std::int64_t end = a.begin[s + 1];
  for (std::int64_t k = a.begin[s]; k < end; ++k) {
    const double* const value = a.values + k * lanes;
    const std::int32_t* const c = a.columns + k * lanes;
    low += *reinterpret_cast<const Four*>(value) * Four{x[c[0]], x[c[1]], x[c[2]], x[c[3]]};
    high += *reinterpret_cast<const Four*>(value + 4) * Four{x[c[4]], x[c[5]], x[c[6]], x[c[7]]};
  }
  *reinterpret_cast<Four*>(sum) = low;
  *reinterpret_cast<Four*>(sum + 4) = high;
}

INLINED int rows_of(const MatrixView& a, std::int64_t s) {
  return static_cast<int>(a.first_row[s + 1] - a.first_row[s]);
}

} // namespace

KUMIHIMO_PROCESSOR_CLONES void multiply(const MatrixView& a, std::int64_t begin, std::int64_t end, const double* x,
                                        double* y) {
  for (std::int64_t s = begin; s < end; ++s) {
    alignas(32) double sum[lanes] = {};
    add_slice(a.lower, s, x, sum);
    add_slice(a.upper, s, x, sum);
    const std::int64_t row = a.first_row[s];
    for (int i = 0; i < rows_of(a, s); ++i) y[row + i] = sum[i] + a.diagonal[row + i] * x[row + i];
  }
}

KUMIHIMO_PROCESSOR_CLONES void forward_from_zero(const MatrixView& a, std::int64_t begin, std::int64_t end,
                                                 const double* r, double* x) {
  for (std::int64_t s = begin; s < end; ++s) {
    alignas(32) double sum[lanes] = {};
    add_slice(a.lower, s, x, sum);
    const std::int64_t row = a.first_row[s];
    for (int i = 0; i < rows_of(a, s); ++i) x[row + i] = (r[row + i] - sum[i]) * a.reciprocal[row + i];
  }
}

KUMIHIMO_PROCESSOR_CLONES void backward_after_zero(const MatrixView& a, std::int64_t begin, std::int64_t end,
                                                   double* x) {
  for (std::int64_t s = begin; s < end; ++s) {
    alignas(32) double sum[lanes] = {};
    add_slice(a.upper, s, x, sum);
    const std::int64_t row = a.first_row[s];
    for (int i = 0; i < rows_of(a, s); ++i) x[row + i] -= sum[i] * a.reciprocal[row + i];
  }
}

KUMIHIMO_PROCESSOR_CLONES void forward(const MatrixView& a, std::int64_t begin, std::int64_t end, const double* r,
                                       double* x, double* t) {
  for (std::int64_t s = begin; s < end; ++s) {
    alignas(32) double below[lanes] = {}, above[lanes] = {};
    add_slice(a.lower, s, x, below);
    add_slice(a.upper, s, x, above);
    const std::int64_t row = a.first_row[s];
    for (int i = 0; i < rows_of(a, s); ++i) {
      t[row + i] = r[row + i] - below[i];
      x[row + i] = (t[row + i] - above[i]) * a.reciprocal[row + i];
    }
  }
}

KUMIHIMO_PROCESSOR_CLONES void backward(const MatrixView& a, std::int64_t begin, std::int64_t end, const double* t,
                                        double* x) {
  for (std::int64_t s = begin; s < end; ++s) {
    alignas(32) double sum[lanes] = {};
    add_slice(a.upper, s, x, sum);
    const std::int64_t row = a.first_row[s];
    for (int i = 0; i < rows_of(a, s); ++i) x[row + i] = (t[row + i] - sum[i]) * a.reciprocal[row + i];
  }
}

KUMIHIMO_PROCESSOR_CLONES void restrict_residual(const RestrictionView& a, std::int64_t begin, std::int64_t end,
                                                 const double* diagonal, const double* r, const double* x,
                                                 double* coarse) {
  for (std::int64_t s = begin; s < end; ++s) {
    alignas(32) double sum[lanes] = {};
    add_slice(a.entries, s, x, sum);
    const std::int64_t row = s * lanes, left = a.rows - row;
    for (int i = 0; i < (left < lanes ? left : lanes); ++i) {
      const std::int32_t at = a.fine[row + i];
      coarse[row + i] = r[at] - (sum[i] + diagonal[at] * x[at]);
    }
  }
}

KUMIHIMO_PROCESSOR_CLONES void prolong(const std::int32_t* fine, std::int64_t begin, std::int64_t end,
                                       const double* coarse, double* x) {
  for (std::int64_t i = begin; i < end; ++i) x[fine[i]] += coarse[i];
}

KUMIHIMO_PROCESSOR_CLONES double dot(const double* x, const double* y, std::int64_t begin, std::int64_t end) {
  double part[lanes] = {};
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes)
    for (int j = 0; j < lanes; ++j) part[j] += x[i + j] * y[i + j];
  for (int j = 0; i < end; ++i, ++j) part[j] += x[i] * y[i];
  double sum = 0;
  for (int j = 0; j < lanes; ++j) sum += part[j];
  return sum;
}

KUMIHIMO_PROCESSOR_CLONES void scaled_sum(double factor, const double* x, double* y, std::int64_t begin,
                                          std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) y[i] = x[i] + factor * y[i];
}

KUMIHIMO_PROCESSOR_CLONES double advance(double step, const double* p, const double* q, double* x, double* r,
                                         std::int64_t begin, std::int64_t end) {
  double part[lanes] = {};
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes)
    for (int j = 0; j < lanes; ++j) {
      x[i + j] += step * p[i + j];
      r[i + j] -= step * q[i + j];
      part[j] += r[i + j] * r[i + j];
    }
  for (int j = 0; i < end; ++i, ++j) {
    x[i] += step * p[i];
    r[i] -= step * q[i];
    part[j] += r[i] * r[i];
  }
  double sum = 0;
  for (int j = 0; j < lanes; ++j) sum += part[j];
  return sum;
}

} // namespace kumihimo::hpcg
