/* y = x / 32768, from 16-bit integers to floats. */
#include "suite.h"

FORM(plain)(float* y, const int16_t* x, long n) {
  for (long i = 0; i < n; ++i) y[i] = x[i] / 32768.0f;
}
FORM(in_double)(float* y, const int16_t* x, long n) {
  for (long i = 0; i < n; ++i) y[i] = (float)(x[i] / 32768.0);
}
FORM(product)(float* restrict y, const int16_t* restrict x, long n) {
  for (long i = 0; i < n; ++i) y[i] = (float)x[i] * (1.0f / 32768.0f);
}
FORM(blocks)(float* restrict y, const int16_t* restrict x, long n) {
  enum { block = 64 };
  long b = 0;
  for (; b + block <= n; b += block) {
    int32_t whole[block];
    for (int i = 0; i < block; ++i) whole[i] = x[b + i];
    for (int i = 0; i < block; ++i) y[b + i] = (float)whole[i] * (1.0f / 32768.0f);
  }
  for (; b < n; ++b) y[b] = (float)x[b] * (1.0f / 32768.0f);
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(in_double)
RUN(product)
RUN(blocks)

LOOP(conversion, "16-bit integers to floats", {F32, 1, 1, 0}, {{I16, 1, 1, 0}},
     .forms = {{"plain", run_plain, ""},
               {"product", run_product, "multiply by the reciprocal, with restrict"},
               {"in double", run_in_double, "divide in double precision"},
               {"blocks", run_blocks, "widen and scale blocks of 64 in two loops, with restrict"}});
