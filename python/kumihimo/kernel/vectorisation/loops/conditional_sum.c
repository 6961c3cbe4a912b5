/* The sum of the positive doubles. */
#include "suite.h"

FORM(branch)(double* out, const double* x, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i)
    if (x[i] > 0) sum += x[i];
  *out = sum;
}
FORM(expression)(double* out, const double* x, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += x[i] > 0 ? x[i] : 0;
  *out = sum;
}
FORM(simd)(double* out, const double* x, long n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += x[i] > 0 ? x[i] : 0;
  *out = sum;
}
FORM(vector)(double* out, const double* x, long n) {
  const long v = LANES(vf64);
  vf64 a = {0}, b = {0}, c = {0}, d = {0};
  long i = 0;
#define ADD(to, at)                                                                                                    \
  {                                                                                                                    \
    const vf64 part = LOAD(vf64, at);                                                                                  \
    to += (vf64)((vi64)part & (vi64)(part > (vf64){0}));                                                               \
  }
  for (; i + 4 * v <= n; i += 4 * v) {
    ADD(a, x + i)
    ADD(b, x + i + v)
    ADD(c, x + i + 2 * v)
    ADD(d, x + i + 3 * v)
  }
  a = (a + b) + (c + d);
  double sum = 0;
  for (long j = 0; j < v; ++j) sum += a[j];
  for (; i < n; ++i) sum += x[i] > 0 ? x[i] : 0;
  *out = sum;
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(branch)
RUN(expression)
RUN(simd)
RUN(vector)

LOOP(conditional_sum, "sum of the positive doubles", {F64, 0, 0, 1}, {{F64, 1, 1, 0}}, .roundings = 1,
     .roundings_of_n = 1,
     .forms = {{"branch", run_branch, ""},
               {"expression", run_expression, "add a conditional expression"},
               {"omp simd", run_simd, "add a conditional expression under #pragma omp simd reduction (-fopenmp-simd)"},
               {"vector", run_vector, "write it with vector types and masks"}});
