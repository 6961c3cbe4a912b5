/* y = ((c7 x + c6) x + ...) x + c0, of doubles. */
#include "suite.h"

enum { terms = 8 };

FORM(plain)(double* y, const double* x, const double* c, long n) {
  for (long i = 0; i < n; ++i) {
    double sum = c[terms - 1];
    for (int t = terms - 2; t >= 0; --t) sum = sum * x[i] + c[t];
    y[i] = sum;
  }
}
FORM(powers)(double* y, const double* x, const double* c, long n) {
  for (long i = 0; i < n; ++i) {
    double sum = 0, power = 1;
    for (int t = 0; t < terms; ++t, power *= x[i]) sum += c[t] * power;
    y[i] = sum;
  }
}
FORM(restricted)(double* restrict y, const double* restrict x, const double* restrict c, long n) {
  for (long i = 0; i < n; ++i) {
    double sum = c[terms - 1];
    for (int t = terms - 2; t >= 0; --t) sum = sum * x[i] + c[t];
    y[i] = sum;
  }
}
/* Estrin's scheme: pairs, then pairs of pairs. */
FORM(pairs)(double* restrict y, const double* restrict x, const double* restrict c, long n) {
  for (long i = 0; i < n; ++i) {
    const double a = x[i], square = a * a, fourth = square * square;
    y[i] = ((c[0] + c[1] * a) + (c[2] + c[3] * a) * square) + ((c[4] + c[5] * a) + (c[6] + c[7] * a) * square) * fourth;
  }
}
FORM(vector)(double* y, const double* x, const double* c, long n) {
  const long v = LANES(vf64);
  long i = 0;
  for (; i + 4 * v <= n; i += 4 * v) {
    vf64 at[4], sum[4];
    for (int j = 0; j < 4; ++j) {
      at[j] = LOAD(vf64, x + i + j * v);
      sum[j] = (vf64){0} + c[terms - 1];
    }
    for (int t = terms - 2; t >= 0; --t)
      for (int j = 0; j < 4; ++j) sum[j] = sum[j] * at[j] + c[t];
    for (int j = 0; j < 4; ++j) STORE(vf64, y + i + j * v, sum[j]);
  }
  for (; i < n; ++i) {
    double sum = c[terms - 1];
    for (int t = terms - 2; t >= 0; --t) sum = sum * x[i] + c[t];
    y[i] = sum;
  }
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->in[1], d->n); }
RUN(plain)
RUN(powers)
RUN(restricted)
RUN(pairs)
RUN(vector)

LOOP(polynomial, "polynomial of degree 7 of doubles", {F64, 1, 1, 0}, {{F64, 1, 1, 0}, {F64, 0, 0, terms}},
     .roundings = 16, .flops = 14, .flops_power = 1,
     .forms = {{"plain", run_plain, ""},
               {"restrict", run_restricted, "declare the arrays restrict"},
               {"powers", run_powers, "add the powers of x one by one"},
               {"pairs", run_pairs, "pair the terms (Estrin), with restrict"},
               {"vector", run_vector, "write it with vector types"}});
