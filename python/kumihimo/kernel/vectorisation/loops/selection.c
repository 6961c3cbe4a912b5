/* y = a where a > b, else b / 2: a condition on data. */
#include "suite.h"

FORM(branch)(float* y, const float* a, const float* b, long n) {
  for (long i = 0; i < n; ++i) {
    if (a[i] > b[i])
      y[i] = a[i];
    else
      y[i] = 0.5f * b[i];
  }
}
FORM(early_store)(float* y, const float* a, const float* b, long n) {
  for (long i = 0; i < n; ++i) {
    y[i] = 0.5f * b[i];
    if (a[i] > b[i]) y[i] = a[i];
  }
}
FORM(expression)(float* restrict y, const float* restrict a, const float* restrict b, long n) {
  for (long i = 0; i < n; ++i) y[i] = a[i] > b[i] ? a[i] : 0.5f * b[i];
}
FORM(vector)(float* y, const float* a, const float* b, long n) {
  const long v = LANES(vf32);
  long i = 0;
  for (; i + v <= n; i += v) {
    const vf32 x = LOAD(vf32, a + i), z = LOAD(vf32, b + i);
    const vi32 is_greater = x > z;
    STORE(vf32, y + i, (vf32)(((vi32)x & is_greater) | ((vi32)(0.5f * z) & ~is_greater)));
  }
  for (; i < n; ++i) y[i] = a[i] > b[i] ? a[i] : 0.5f * b[i];
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->in[1], d->n); }
RUN(branch)
RUN(early_store)
RUN(expression)
RUN(vector)

LOOP(selection, "y = a > b ? a : b / 2 of floats", {F32, 1, 1, 0}, {{F32, 1, 1, 0}, {F32, 1, 1, 0}},
     .forms = {{"branch", run_branch, ""},
               {"expression", run_expression, "write the condition as a ? b : c, with restrict"},
               {"early store", run_early_store, "store one case first, then the other under the condition"},
               {"vector", run_vector, "write it with vector types and masks"}});
