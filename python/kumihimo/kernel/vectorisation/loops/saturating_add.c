/* y = min(a + b, 255), of bytes. */
#include "suite.h"

FORM(branch)(uint8_t* y, const uint8_t* a, const uint8_t* b, long n) {
  for (long i = 0; i < n; ++i) {
    int sum = a[i] + b[i];
    if (sum > 255) sum = 255;
    y[i] = (uint8_t)sum;
  }
}
FORM(expression)(uint8_t* restrict y, const uint8_t* restrict a, const uint8_t* restrict b, long n) {
  for (long i = 0; i < n; ++i) {
    const uint16_t sum = (uint16_t)(a[i] + b[i]);
    y[i] = (uint8_t)(sum > 255 ? 255 : sum);
  }
}
FORM(overflow)(uint8_t* restrict y, const uint8_t* restrict a, const uint8_t* restrict b, long n) {
  for (long i = 0; i < n; ++i) {
    const uint8_t sum = (uint8_t)(a[i] + b[i]);
    y[i] = sum < a[i] ? 255 : sum;
  }
}
FORM(vector)(uint8_t* y, const uint8_t* a, const uint8_t* b, long n) {
  const long v = LANES(vu8);
  long i = 0;
  for (; i + v <= n; i += v) {
    const vu8 x = LOAD(vu8, a + i), sum = x + LOAD(vu8, b + i);
    STORE(vu8, y + i, sum | (vu8)(sum < x));
  }
  for (; i < n; ++i) {
    const uint8_t sum = (uint8_t)(a[i] + b[i]);
    y[i] = sum < a[i] ? 255 : sum;
  }
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->in[1], d->n); }
RUN(branch)
RUN(expression)
RUN(overflow)
RUN(vector)

LOOP(saturating_add, "y = min(a + b, 255) of bytes", {U8, 1, 1, 0}, {{U8, 1, 1, 0}, {U8, 1, 1, 0}},
     .forms = {{"branch", run_branch, ""},
               {"expression", run_expression, "add in 16 bits and select with a ? b : c, with restrict"},
               {"overflow", run_overflow, "add in 8 bits and test for overflow, with restrict"},
               {"vector", run_vector, "write it with vector types and masks"}});
