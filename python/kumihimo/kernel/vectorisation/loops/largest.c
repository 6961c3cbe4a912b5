/* The place of the first largest float. */
#include "suite.h"

FORM(plain)(int64_t* out, const float* x, long n) {
  long best = 0;
  for (long i = 1; i < n; ++i)
    if (x[i] > x[best]) best = i;
  *out = best;
}
FORM(carried)(int64_t* out, const float* x, long n) {
  float most = n > 0 ? x[0] : 0;
  long best = 0;
  for (long i = 1; i < n; ++i)
    if (x[i] > most) {
      most = x[i];
      best = i;
    }
  *out = best;
}
FORM(two_passes)(int64_t* out, const float* x, long n) {
  float most = n > 0 ? x[0] : 0;
#pragma omp simd reduction(max : most)
  for (long i = 0; i < n; ++i) most = x[i] > most ? x[i] : most;
  long best = 0;
  while (best < n && x[best] != most) ++best;
  *out = n > 0 ? best : 0;
}
/* The block of the largest element is remembered, and searched at the end. */
FORM(blocks)(int64_t* out, const float* x, long n) {
  enum { block = 512 };
  long best = 0;
  float most = n > 0 ? x[0] : 0;
  for (long b = 0; b < n; b += block) {
    const long end = b + block < n ? b + block : n;
    float here = x[b];
#pragma omp simd reduction(max : here)
    for (long i = b; i < end; ++i) here = x[i] > here ? x[i] : here;
    if (here > most) {
      most = here;
      best = b;
    }
  }
  while (best < n && x[best] != most) ++best;
  *out = best;
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(carried)
RUN(two_passes)
RUN(blocks)

LOOP(largest, "place of the largest float", {I64, 0, 0, 1}, {{F32, 1, 1, 0, SMALL}},
     .forms = {{"plain", run_plain, ""},
               {"carried", run_carried, "carry the largest element in a variable"},
               {"two passes", run_two_passes, "find the value with #pragma omp simd reduction(max), then its place"},
               {"blocks", run_blocks, "find the block of the largest element, then its place in it"}});
