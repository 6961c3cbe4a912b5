/* How often each byte occurs. */
#include "suite.h"

FORM(plain)(uint32_t* out, const uint8_t* x, long n) {
  memset(out, 0, 256 * sizeof *out);
  for (long i = 0; i < n; ++i) out[x[i]]++;
}
FORM(four_tables)(uint32_t* out, const uint8_t* x, long n) {
  uint32_t tables[4][256] = {{0}};
  long i = 0;
  for (; i + 4 <= n; i += 4) {
    tables[0][x[i]]++;
    tables[1][x[i + 1]]++;
    tables[2][x[i + 2]]++;
    tables[3][x[i + 3]]++;
  }
  for (; i < n; ++i) tables[0][x[i]]++;
  for (int j = 0; j < 256; ++j) out[j] = tables[0][j] + tables[1][j] + tables[2][j] + tables[3][j];
}
FORM(words)(uint32_t* out, const uint8_t* x, long n) {
  uint32_t tables[4][256] = {{0}};
  long i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word;
    memcpy(&word, x + i, 8);
    for (int j = 0; j < 8; ++j, word >>= 8) tables[j & 3][word & 255]++;
  }
  for (; i < n; ++i) tables[0][x[i]]++;
  for (int j = 0; j < 256; ++j) out[j] = tables[0][j] + tables[1][j] + tables[2][j] + tables[3][j];
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(four_tables)
RUN(words)

LOOP(histogram, "histogram of bytes", {U32, 0, 0, 256}, {{U8, 1, 1, 0}},
     .forms = {{"plain", run_plain, ""},
               {"four tables", run_four_tables, "count into 4 tables by turns"},
               {"words", run_words, "load 8 bytes at once and count into 4 tables"}});
