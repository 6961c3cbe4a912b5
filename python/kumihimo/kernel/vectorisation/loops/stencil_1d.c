/* y_i = (x_(i-1) + 2 x_i + x_(i+1)) / 4, of doubles. The input has one element more at each end. */
#include "suite.h"

FORM(plain)(double* y, const double* x, long n) {
  for (long i = 0; i < n; ++i) y[i] = 0.25 * x[i] + 0.5 * x[i + 1] + 0.25 * x[i + 2];
}
FORM(restricted)(double* restrict y, const double* restrict x, long n) {
  for (long i = 0; i < n; ++i) y[i] = 0.25 * x[i] + 0.5 * x[i + 1] + 0.25 * x[i + 2];
}
FORM(carried)(double* y, const double* x, long n) {
  double left = x[0], middle = x[1];
  for (long i = 0; i < n; ++i) {
    const double right = x[i + 2];
    y[i] = 0.25 * left + 0.5 * middle + 0.25 * right;
    left = middle;
    middle = right;
  }
}
FORM(vector)(double* y, const double* x, long n) {
  const long v = LANES(vf64);
  long i = 0;
  for (; i + v <= n; i += v)
    STORE(vf64, y + i, 0.25 * LOAD(vf64, x + i) + 0.5 * LOAD(vf64, x + i + 1) + 0.25 * LOAD(vf64, x + i + 2));
  for (; i < n; ++i) y[i] = 0.25 * x[i] + 0.5 * x[i + 1] + 0.25 * x[i + 2];
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(restricted)
RUN(carried)
RUN(vector)

LOOP(stencil_1d, "stencil of 3 points", {F64, 1, 1, 0}, {{F64, 1, 1, 2}}, .roundings = 3, .flops = 5, .flops_power = 1,
     .forms = {{"plain", run_plain, ""},
               {"restrict", run_restricted, "declare the arrays restrict"},
               {"carried", run_carried, "carry the neighbours in variables"},
               {"vector", run_vector, "write it with vector types"}});
