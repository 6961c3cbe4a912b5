/* The sum of absolute differences of bytes, of motion estimation. */
#include "suite.h"

FORM(branch)(uint32_t* out, const uint8_t* a, const uint8_t* b, long n) {
  uint32_t sum = 0;
  for (long i = 0; i < n; ++i) {
    int difference = a[i] - b[i];
    if (difference < 0) difference = -difference;
    sum += (uint32_t)difference;
  }
  *out = sum;
}
FORM(greater_less_smaller)(uint32_t* out, const uint8_t* a, const uint8_t* b, long n) {
  uint32_t sum = 0;
  for (long i = 0; i < n; ++i) sum += (uint8_t)(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
  *out = sum;
}
FORM(rows)(uint32_t* out, const uint8_t* a, const uint8_t* b, long n) {
  uint32_t sum = 0;
  long i = 0;
  for (; i + 16 <= n; i += 16) {
    uint32_t row = 0;
    for (int j = 0; j < 16; ++j) row += (uint32_t)(a[i + j] > b[i + j] ? a[i + j] - b[i + j] : b[i + j] - a[i + j]);
    sum += row;
  }
  for (; i < n; ++i) sum += (uint32_t)(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
  *out = sum;
}
/* Even and odd bytes are summed in 16 bits, of which 256 times 255 fit. */
FORM(vector)(uint32_t* out, const uint8_t* a, const uint8_t* b, long n) {
  const long v = LANES(vu8);
  uint32_t sum = 0;
  long i = 0;
  while (i + v <= n) {
    vu16 even = {0}, odd = {0};
    for (int times = 0; times < 256 && i + v <= n; ++times, i += v) {
      const vu8 x = LOAD(vu8, a + i), y = LOAD(vu8, b + i);
      const vu8 mask = (vu8)(x > y);
      const vu8 difference = ((x - y) & mask) | ((y - x) & ~mask);
      even += (vu16)difference & 255;
      odd += (vu16)difference >> 8;
    }
    for (long j = 0; j < LANES(vu16); ++j) sum += (uint32_t)even[j] + odd[j];
  }
  for (; i < n; ++i) sum += (uint32_t)(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
  *out = sum;
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->in[1], d->n); }
RUN(branch)
RUN(greater_less_smaller)
RUN(rows)
RUN(vector)

LOOP(differences, "sum of absolute differences of bytes", {U32, 0, 0, 1}, {{U8, 1, 1, 0}, {U8, 1, 1, 0}},
     .forms = {{"branch", run_branch, ""},
               {"greater less smaller", run_greater_less_smaller, "subtract the smaller byte from the greater one"},
               {"rows", run_rows, "sum rows of 16 bytes in an inner loop of fixed length"},
               {"vector", run_vector, "write it with vector types of 8 and 16 bits"}});
