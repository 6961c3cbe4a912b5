/* r = x^2 + y^2 + z^2 of points: an array of structures, a structure of arrays, or blocks of both. */
#include "suite.h"

enum { lanes = 16 };
struct point {
  float x, y, z;
};

FORM(structures)(float* r, const struct point* p, long n) {
  for (long i = 0; i < n; ++i) r[i] = p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z;
}
FORM(arrays)(float* r, const float* x, const float* y, const float* z, long n) {
  for (long i = 0; i < n; ++i) r[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}
FORM(arrays_restricted)
(float* restrict r, const float* restrict x, const float* restrict y, const float* restrict z, long n) {
  for (long i = 0; i < n; ++i) r[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}
/* 16 x, 16 y, 16 z; then the next 16 points. */
FORM(blocks)(float* restrict r, const float* restrict p, long n) {
  for (long b = 0; b < n; b += lanes, p += 3 * lanes) {
    const long many = n - b < lanes ? n - b : lanes;
    if (many == lanes)
      for (int i = 0; i < lanes; ++i)
        r[b + i] = p[i] * p[i] + p[lanes + i] * p[lanes + i] + p[2 * lanes + i] * p[2 * lanes + i];
    else
      for (int i = 0; i < many; ++i)
        r[b + i] = p[i] * p[i] + p[lanes + i] * p[lanes + i] + p[2 * lanes + i] * p[2 * lanes + i];
  }
}
FORM(vector)(float* r, const float* x, const float* y, const float* z, long n) {
  const long v = LANES(vf32);
  long i = 0;
  for (; i + v <= n; i += v) {
    const vf32 a = LOAD(vf32, x + i), b = LOAD(vf32, y + i), c = LOAD(vf32, z + i);
    STORE(vf32, r + i, a * a + b * b + c * c);
  }
  for (; i < n; ++i) r[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}

static void prepare(const struct data* d) {
  const struct point* p = d->in[0];
  float *x = d->in[1], *y = x + d->n, *z = y + d->n, *blocks = d->in[2];
  for (long i = 0; i < d->n; ++i) {
    x[i] = p[i].x;
    y[i] = p[i].y;
    z[i] = p[i].z;
    float* at = blocks + i / lanes * 3 * lanes + i % lanes;
    at[0] = p[i].x;
    at[lanes] = p[i].y;
    at[2 * lanes] = p[i].z;
  }
}

static void run_structures(const struct data* d) { structures(d->out, d->in[0], d->n); }
static void run_blocks(const struct data* d) { blocks(d->out, d->in[2], d->n); }
#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) {                                                                       \
    const float* x = d->in[1];                                                                                         \
    form(d->out, x, x + d->n, x + 2 * d->n, d->n);                                                                     \
  }
RUN(arrays)
RUN(arrays_restricted)
RUN(vector)

LOOP(layout, "r = x^2 + y^2 + z^2 of points of floats", {F32, 1, 1, 0},
     {{F32, 3, 1, 0}, {F32, 3, 1, 0}, {F32, 3, 1, 3 * lanes}}, .roundings = 3, .flops = 5, .flops_power = 1,
     .prepare = prepare,
     .forms = {{"structures", run_structures, ""},
               {"arrays", run_arrays, "store the points as a structure of arrays"},
               {"arrays restrict", run_arrays_restricted, "store a structure of arrays and declare them restrict"},
               {"blocks", run_blocks, "store blocks of 16 points, each a structure of arrays"},
               {"vector", run_vector, "store a structure of arrays and write it with vector types"}});
