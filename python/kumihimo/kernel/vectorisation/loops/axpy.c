/* y = y + s x, of doubles: whether the arrays may overlap decides. */
#include "suite.h"

enum { s = 3 };

FORM(plain)(double* y, const double* x, long n) {
  for (long i = 0; i < n; ++i) y[i] = y[i] + s * x[i];
}
FORM(pointer)(double* y, const double* x, long n) {
  for (const double* end = x + n; x != end;) *y++ += s * *x++;
}
FORM(int_index)(double* y, const double* x, long n) {
  for (int i = 0; i < (int)n; ++i) y[i] = y[i] + s * x[i];
}
FORM(restricted)(double* restrict y, const double* restrict x, long n) {
  for (long i = 0; i < n; ++i) y[i] = y[i] + s * x[i];
}
FORM(unrolled)(double* restrict y, const double* restrict x, long n) {
  long i = 0;
  for (; i + 4 <= n; i += 4) {
    y[i] = y[i] + s * x[i];
    y[i + 1] = y[i + 1] + s * x[i + 1];
    y[i + 2] = y[i + 2] + s * x[i + 2];
    y[i + 3] = y[i + 3] + s * x[i + 3];
  }
  for (; i < n; ++i) y[i] = y[i] + s * x[i];
}
FORM(vector)(double* y, const double* x, long n) {
  const long v = LANES(vf64);
  const vf64 factor = (vf64){0} + s;
  long i = 0;
  for (; i + 2 * v <= n; i += 2 * v) {
    const vf64 a = LOAD(vf64, y + i) + factor * LOAD(vf64, x + i);
    const vf64 b = LOAD(vf64, y + i + v) + factor * LOAD(vf64, x + i + v);
    STORE(vf64, y + i, a);
    STORE(vf64, y + i + v, b);
  }
  for (; i < n; ++i) y[i] = y[i] + s * x[i];
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(pointer)
RUN(int_index)
RUN(restricted)
RUN(unrolled)
RUN(vector)

LOOP(axpy, "y = y + s x of doubles", {F64, 1, 1, 0}, {{F64, 1, 1, 0}}, .roundings = 2, .flops = 2, .flops_power = 1,
     .forms = {{"plain", run_plain, ""},
               {"restrict", run_restricted, "declare the arrays restrict"},
               {"int index", run_int_index, "index with int"},
               {"pointer", run_pointer, "step pointers instead of an index"},
               {"unrolled", run_unrolled, "unroll by 4 by hand, with restrict"},
               {"vector", run_vector, "write it with vector types"}});
