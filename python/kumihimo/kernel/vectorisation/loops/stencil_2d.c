/* A 5-point stencil on an n x n grid of doubles; its border is copied. */
#include "suite.h"

FORM(plain)(double* y, const double* x, long n) {
  memcpy(y, x, (size_t)(n * n) * sizeof *y);
  for (long i = 1; i < n - 1; ++i)
    for (long j = 1; j < n - 1; ++j)
      y[i * n + j] =
          0.2 * (x[i * n + j] + x[i * n + j - 1] + x[i * n + j + 1] + x[(i - 1) * n + j] + x[(i + 1) * n + j]);
}
FORM(columns_inside)(double* y, const double* x, long n) {
  memcpy(y, x, (size_t)(n * n) * sizeof *y);
  for (long j = 1; j < n - 1; ++j)
    for (long i = 1; i < n - 1; ++i)
      y[i * n + j] =
          0.2 * (x[i * n + j] + x[i * n + j - 1] + x[i * n + j + 1] + x[(i - 1) * n + j] + x[(i + 1) * n + j]);
}
FORM(rows)(double* y, const double* x, long n) {
  memcpy(y, x, (size_t)(n * n) * sizeof *y);
  for (long i = 1; i < n - 1; ++i) {
    double* restrict to = y + i * n;
    const double* restrict above = x + (i - 1) * n, * restrict here = x + i * n, * restrict below = x + (i + 1) * n;
    for (long j = 1; j < n - 1; ++j) to[j] = 0.2 * (here[j] + here[j - 1] + here[j + 1] + above[j] + below[j]);
  }
}
FORM(array)(long n, double y[n][n], const double x[n][n]) {
  memcpy(y, x, (size_t)(n * n) * sizeof(double));
  for (long i = 1; i < n - 1; ++i)
    for (long j = 1; j < n - 1; ++j) y[i][j] = 0.2 * (x[i][j] + x[i][j - 1] + x[i][j + 1] + x[i - 1][j] + x[i + 1][j]);
}
FORM(vector)(double* y, const double* x, long n) {
  const long v = LANES(vf64);
  memcpy(y, x, (size_t)(n * n) * sizeof *y);
  for (long i = 1; i < n - 1; ++i) {
    const double* at = x + i * n;
    long j = 1;
    for (; j + v <= n - 1; j += v)
      STORE(vf64, y + i * n + j,
            0.2 * (LOAD(vf64, at + j) + LOAD(vf64, at + j - 1) + LOAD(vf64, at + j + 1) + LOAD(vf64, at + j - n) +
                   LOAD(vf64, at + j + n)));
    for (; j < n - 1; ++j) y[i * n + j] = 0.2 * (at[j] + at[j - 1] + at[j + 1] + at[j - n] + at[j + n]);
  }
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(columns_inside)
RUN(rows)
RUN(vector)
static void run_array(const struct data* d) { array(d->n, d->out, d->in[0]); }

LOOP(stencil_2d, "stencil of 5 points on a grid", {F64, 1, 2, 0}, {{F64, 1, 2, 0}}, .roundings = 5, .flops = 5,
     .flops_power = 2, .sizes = {40, 150, 2000},
     .forms = {{"plain", run_plain, ""},
               {"array", run_array, "index arrays of two dimensions"},
               {"rows", run_rows, "take restrict pointers to the rows before the inner loop"},
               {"columns inside", run_columns_inside, "run over columns in the inner loop"},
               {"vector", run_vector, "write it with vector types"}});
