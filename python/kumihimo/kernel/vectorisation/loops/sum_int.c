/* The sum of 32-bit integers, modulo 2^32: any order is right. */
#include "suite.h"

FORM(plain)(uint32_t* out, const uint32_t* x, long n) {
  uint32_t sum = 0;
  for (long i = 0; i < n; ++i) sum += x[i];
  *out = sum;
}
FORM(into_memory)(uint32_t* out, const uint32_t* x, long n) {
  *out = 0;
  for (long i = 0; i < n; ++i) *out += x[i];
}
FORM(pointer)(uint32_t* out, const uint32_t* x, long n) {
  uint32_t sum = 0;
  for (const uint32_t* end = x + n; x < end; ++x) sum += *x;
  *out = sum;
}
FORM(vector)(uint32_t* out, const uint32_t* x, long n) {
  const long v = LANES(vu32);
  vu32 a = {0}, b = {0}, c = {0}, d = {0};
  long i = 0;
  for (; i + 4 * v <= n; i += 4 * v) {
    a += LOAD(vu32, x + i);
    b += LOAD(vu32, x + i + v);
    c += LOAD(vu32, x + i + 2 * v);
    d += LOAD(vu32, x + i + 3 * v);
  }
  a = (a + b) + (c + d);
  uint32_t sum = 0;
  for (long j = 0; j < v; ++j) sum += a[j];
  for (; i < n; ++i) sum += x[i];
  *out = sum;
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(into_memory)
RUN(pointer)
RUN(vector)

LOOP(sum_int, "sum of 32-bit integers", {U32, 0, 0, 1}, {{U32, 1, 1, 0}}, .flops = 1, .flops_power = 1,
     .forms = {{"plain", run_plain, ""},
               {"pointer", run_pointer, "step a pointer instead of an index"},
               {"into memory", run_into_memory, "sum into the result in memory"},
               {"vector", run_vector, "write it with vector types and 4 accumulators"}});
