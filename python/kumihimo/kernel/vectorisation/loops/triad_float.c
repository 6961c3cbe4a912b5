/* y = a + s b, of floats. */
#include "suite.h"

#define s 3.0f

FORM(plain)(float* y, const float* a, const float* b, long n) {
  for (long i = 0; i < n; ++i) y[i] = a[i] + s * b[i];
}
FORM(double_literal)(float* y, const float* a, const float* b, long n) {
  for (long i = 0; i < n; ++i) y[i] = a[i] + 3.0 * b[i];
}
FORM(restricted)(float* restrict y, const float* restrict a, const float* restrict b, long n) {
  for (long i = 0; i < n; ++i) y[i] = a[i] + s * b[i];
}
FORM(simd)(float* y, const float* a, const float* b, long n) {
#pragma omp simd
  for (long i = 0; i < n; ++i) y[i] = a[i] + s * b[i];
}
FORM(vector)(float* y, const float* a, const float* b, long n) {
  const long v = LANES(vf32);
  const vf32 factor = (vf32){0} + s;
  long i = 0;
  for (; i + v <= n; i += v) STORE(vf32, y + i, LOAD(vf32, a + i) + factor * LOAD(vf32, b + i));
  for (; i < n; ++i) y[i] = a[i] + s * b[i];
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->in[1], d->n); }
RUN(plain)
RUN(double_literal)
RUN(restricted)
RUN(simd)
RUN(vector)

LOOP(triad_float, "y = a + s b of floats", {F32, 1, 1, 0}, {{F32, 1, 1, 0}, {F32, 1, 1, 0}}, .roundings = 3, .flops = 2,
     .flops_power = 1,
     .forms = {{"plain", run_plain, ""},
               {"restrict", run_restricted, "declare the arrays restrict"},
               {"omp simd", run_simd, "add #pragma omp simd, compiled with -fopenmp-simd"},
               {"double literal", run_double_literal, "compute with double literals"},
               {"vector", run_vector, "write it with vector types"}});
