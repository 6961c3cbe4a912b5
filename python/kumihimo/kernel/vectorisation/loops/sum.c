/* The sum of doubles: a compiler may not reorder it, unless it is allowed to. */
#include "suite.h"

FORM(plain)(double* out, const double* x, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += x[i];
  *out = sum;
}
FORM(simd)(double* out, const double* x, long n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += x[i];
  *out = sum;
}
FORM(accumulators)(double* out, const double* x, long n) {
  double a = 0, b = 0, c = 0, d = 0;
  long i = 0;
  for (; i + 4 <= n; i += 4) {
    a += x[i];
    b += x[i + 1];
    c += x[i + 2];
    d += x[i + 3];
  }
  for (; i < n; ++i) a += x[i];
  *out = (a + b) + (c + d);
}
FORM(blocks)(double* out, const double* x, long n) {
  double part[16] = {0}, sum = 0;
  long i = 0;
  for (; i + 16 <= n; i += 16)
    for (int j = 0; j < 16; ++j) part[j] += x[i + j];
  for (; i < n; ++i) part[0] += x[i];
  for (int j = 0; j < 16; ++j) sum += part[j];
  *out = sum;
}
FORM(vector)(double* out, const double* x, long n) {
  const long v = LANES(vf64);
  vf64 a = {0}, b = {0}, c = {0}, d = {0};
  long i = 0;
  for (; i + 4 * v <= n; i += 4 * v) {
    a += LOAD(vf64, x + i);
    b += LOAD(vf64, x + i + v);
    c += LOAD(vf64, x + i + 2 * v);
    d += LOAD(vf64, x + i + 3 * v);
  }
  a = (a + b) + (c + d);
  double sum = 0;
  for (long j = 0; j < v; ++j) sum += a[j];
  for (; i < n; ++i) sum += x[i];
  *out = sum;
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(simd)
RUN(accumulators)
RUN(blocks)
RUN(vector)

LOOP(sum, "sum of doubles", {F64, 0, 0, 1}, {{F64, 1, 1, 0}}, .roundings = 1, .roundings_of_n = 1, .flops = 1,
     .flops_power = 1,
     .forms = {{"plain", run_plain, ""},
               {"omp simd", run_simd, "add #pragma omp simd reduction (-fopenmp-simd), or compile with -ffast-math"},
               {"accumulators", run_accumulators, "sum into 4 accumulators"},
               {"blocks", run_blocks, "sum into an array of 16 partial sums"},
               {"vector", run_vector, "write it with vector types"}});
