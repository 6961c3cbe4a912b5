/* A filter of 16 taps: y_i = sum over t of h_t x_(i+t), of floats. */
#include "suite.h"

enum { taps = 16 };

FORM(plain)(float* y, const float* x, const float* h, long n) {
  for (long i = 0; i < n; ++i) {
    float sum = 0;
    for (int t = 0; t < taps; ++t) sum += h[t] * x[i + t];
    y[i] = sum;
  }
}
FORM(taps_outside)(float* restrict y, const float* restrict x, const float* restrict h, long n) {
  for (long i = 0; i < n; ++i) y[i] = 0;
  for (int t = 0; t < taps; ++t)
    for (long i = 0; i < n; ++i) y[i] += h[t] * x[i + t];
}
FORM(local_taps)(float* restrict y, const float* restrict x, const float* restrict h, long n) {
  float local[taps];
  for (int t = 0; t < taps; ++t) local[t] = h[t];
  for (long i = 0; i < n; ++i) {
    float sum = 0;
#pragma GCC unroll 16
    for (int t = 0; t < taps; ++t) sum += local[t] * x[i + t];
    y[i] = sum;
  }
}
FORM(blocks)(float* restrict y, const float* restrict x, const float* restrict h, long n) {
  enum { block = 256 };
  for (long b = 0; b < n; b += block) {
    float sum[block] = {0};
    const long many = n - b < block ? n - b : block;
    if (many == block) {
      for (int t = 0; t < taps; ++t)
        for (int i = 0; i < block; ++i) sum[i] += h[t] * x[b + i + t];
    } else {
      for (int t = 0; t < taps; ++t)
        for (int i = 0; i < many; ++i) sum[i] += h[t] * x[b + i + t];
    }
    memcpy(y + b, sum, (size_t)many * sizeof *y);
  }
}
FORM(vector)(float* y, const float* x, const float* h, long n) {
  const long v = LANES(vf32);
  long i = 0;
  for (; i + 2 * v <= n; i += 2 * v) {
    vf32 a = {0}, b = {0};
    for (int t = 0; t < taps; ++t) {
      a += h[t] * LOAD(vf32, x + i + t);
      b += h[t] * LOAD(vf32, x + i + t + v);
    }
    STORE(vf32, y + i, a);
    STORE(vf32, y + i + v, b);
  }
  for (; i < n; ++i) {
    float sum = 0;
    for (int t = 0; t < taps; ++t) sum += h[t] * x[i + t];
    y[i] = sum;
  }
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->in[1], d->n); }
RUN(plain)
RUN(taps_outside)
RUN(local_taps)
RUN(blocks)
RUN(vector)

LOOP(fir, "filter of 16 taps of floats", {F32, 1, 1, 0}, {{F32, 1, 1, taps}, {F32, 0, 0, taps}}, .roundings = 17,
     .flops = 2 * taps, .flops_power = 1,
     .forms = {{"plain", run_plain, ""},
               {"local taps", run_local_taps, "copy the taps to a local array and unroll their loop, with restrict"},
               {"taps outside", run_taps_outside, "run over the taps in the outer loop, with restrict"},
               {"blocks", run_blocks, "run over blocks of 256 results, over the taps, over the block"},
               {"vector", run_vector, "write it with vector types"}});
