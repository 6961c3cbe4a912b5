/* y_i = x_(4 i), of doubles: a column of a matrix of 4. */
#include "suite.h"

FORM(plain)(double* y, const double* x, long n) {
  for (long i = 0; i < n; ++i) y[i] = x[4 * i];
}
FORM(restricted)(double* restrict y, const double* restrict x, long n) {
  for (long i = 0; i < n; ++i) y[i] = x[4 * i];
}
FORM(pointer)(double* y, const double* x, long n) {
  for (long i = 0; i < n; ++i, x += 4) *y++ = *x;
}
FORM(unrolled)(double* y, const double* x, long n) {
  long i = 0;
  for (; i + 4 <= n; i += 4) {
    const double a = x[4 * i], b = x[4 * i + 4], c = x[4 * i + 8], d = x[4 * i + 12];
    y[i] = a;
    y[i + 1] = b;
    y[i + 2] = c;
    y[i + 3] = d;
  }
  for (; i < n; ++i) y[i] = x[4 * i];
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(restricted)
RUN(pointer)
RUN(unrolled)

LOOP(strided, "copy of every fourth double", {F64, 1, 1, 0}, {{F64, 4, 1, 0}},
     .forms = {{"plain", run_plain, ""},
               {"restrict", run_restricted, "declare the arrays restrict"},
               {"pointer", run_pointer, "step pointers instead of an index"},
               {"unrolled", run_unrolled, "load 4 elements before storing them"}});
