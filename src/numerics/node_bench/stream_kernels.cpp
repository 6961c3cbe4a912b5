#include "node_bench/stream_kernels.hpp"

#include "threads/processor_clones.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kumihimo::node_bench {
namespace {

KUMIHIMO_PROCESSOR_CLONES void copy(const double* __restrict x, double* __restrict to, std::int64_t begin,
                                    std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) to[i] = x[i];
}
KUMIHIMO_PROCESSOR_CLONES void scale(double q, const double* __restrict x, double* __restrict to, std::int64_t begin,
                                     std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) to[i] = q * x[i];
}
KUMIHIMO_PROCESSOR_CLONES void add(const double* __restrict x, const double* __restrict y, double* __restrict to,
                                   std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) to[i] = x[i] + y[i];
}
KUMIHIMO_PROCESSOR_CLONES void triad(double q, const double* __restrict x, const double* __restrict y,
                                     double* __restrict to, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) to[i] = x[i] + q * y[i];
}

#if defined(__x86_64__)
// With 16 bytes a store fills its cache line in four steps, as any other store does; the memory sees whole lines.
void copy_streamed(const double* x, double* to, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; i += 2) _mm_stream_pd(to + i, _mm_load_pd(x + i));
}
void scale_streamed(double q, const double* x, double* to, std::int64_t begin, std::int64_t end) {
  const __m128d factor = _mm_set1_pd(q);
  for (std::int64_t i = begin; i < end; i += 2) _mm_stream_pd(to + i, _mm_mul_pd(factor, _mm_load_pd(x + i)));
}
void add_streamed(const double* x, const double* y, double* to, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; i += 2)
    _mm_stream_pd(to + i, _mm_add_pd(_mm_load_pd(x + i), _mm_load_pd(y + i)));
}
void triad_streamed(double q, const double* x, const double* y, double* to, std::int64_t begin, std::int64_t end) {
  const __m128d factor = _mm_set1_pd(q);
  for (std::int64_t i = begin; i < end; i += 2)
    _mm_stream_pd(to + i, _mm_add_pd(_mm_load_pd(x + i), _mm_mul_pd(factor, _mm_load_pd(y + i))));
}
#endif

void run_cached(int kernel, const StreamArrays& s, double q, std::int64_t begin, std::int64_t end) {
  switch (kernel) {
  case 0: return copy(s.a, s.c, begin, end);
  case 1: return scale(q, s.c, s.b, begin, end);
  case 2: return add(s.a, s.b, s.c, begin, end);
  default: return triad(q, s.b, s.c, s.a, begin, end);
  }
}

} // namespace

bool has_non_temporal_stores() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

void run_stream(int kernel, Stores stores, const StreamArrays& s, double q, std::int64_t begin, std::int64_t end) {
#if defined(__x86_64__)
  if (stores == Stores::streamed) {
    switch (kernel) {
    case 0: copy_streamed(s.a, s.c, begin, end); break;
    case 1: scale_streamed(q, s.c, s.b, begin, end); break;
    case 2: add_streamed(s.a, s.b, s.c, begin, end); break;
    default: triad_streamed(q, s.b, s.c, s.a, begin, end); break;
    }
    _mm_sfence();
    return;
  }
#endif
  (void)stores;
  run_cached(kernel, s, q, begin, end);
}

} // namespace kumihimo::node_bench
