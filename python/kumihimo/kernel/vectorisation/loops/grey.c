/* Colour conversion: grey = (77 r + 150 g + 29 b) / 256, of bytes. */
#include "suite.h"

FORM(interleaved)(uint8_t* y, const uint8_t* rgb, long n) {
  for (long i = 0; i < n; ++i) y[i] = (uint8_t)((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8);
}
FORM(interleaved_restricted)(uint8_t* restrict y, const uint8_t* restrict rgb, long n) {
  for (long i = 0; i < n; ++i)
    y[i] = (uint8_t)((uint16_t)(77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8);
}
FORM(table)(uint8_t* y, const uint8_t* rgb, long n) {
  uint16_t of_red[256], of_green[256], of_blue[256];
  for (int i = 0; i < 256; ++i) {
    of_red[i] = (uint16_t)(77 * i);
    of_green[i] = (uint16_t)(150 * i);
    of_blue[i] = (uint16_t)(29 * i);
  }
  for (long i = 0; i < n; ++i)
    y[i] = (uint8_t)((of_red[rgb[3 * i]] + of_green[rgb[3 * i + 1]] + of_blue[rgb[3 * i + 2]]) >> 8);
}
FORM(planes)
(uint8_t* restrict y, const uint8_t* restrict r, const uint8_t* restrict g, const uint8_t* restrict b, long n) {
  for (long i = 0; i < n; ++i) y[i] = (uint8_t)((uint16_t)(77 * r[i] + 150 * g[i] + 29 * b[i]) >> 8);
}
FORM(vector)(uint8_t* y, const uint8_t* r, const uint8_t* g, const uint8_t* b, long n) {
  const long v = LANES(vu8);
  long i = 0;
  for (; i + v <= n; i += v) {
    const vu16 red = LOAD(vu16, r + i), green = LOAD(vu16, g + i), blue = LOAD(vu16, b + i);
    const vu16 even = (red & 255) * 77 + (green & 255) * 150 + (blue & 255) * 29;
    const vu16 odd = (red >> 8) * 77 + (green >> 8) * 150 + (blue >> 8) * 29;
    STORE(vu16, y + i, (even >> 8) | (odd & 0xFF00));
  }
  for (; i < n; ++i) y[i] = (uint8_t)((77 * r[i] + 150 * g[i] + 29 * b[i]) >> 8);
}

static void prepare(const struct data* d) {
  const uint8_t* rgb = d->in[0];
  uint8_t *r = d->in[1], *g = r + d->n, *b = g + d->n;
  for (long i = 0; i < d->n; ++i) {
    r[i] = rgb[3 * i];
    g[i] = rgb[3 * i + 1];
    b[i] = rgb[3 * i + 2];
  }
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(interleaved)
RUN(interleaved_restricted)
RUN(table)
#define RUN_PLANES(form)                                                                                               \
  static void run_##form(const struct data* d) {                                                                       \
    const uint8_t* r = d->in[1];                                                                                       \
    form(d->out, r, r + d->n, r + 2 * d->n, d->n);                                                                     \
  }
RUN_PLANES(planes)
RUN_PLANES(vector)

LOOP(grey, "colours to grey, of bytes", {U8, 1, 1, 0}, {{U8, 3, 1, 0}, {U8, 3, 1, 0}}, .prepare = prepare,
     .forms = {{"interleaved", run_interleaved, ""},
               {"restrict", run_interleaved_restricted, "compute in 16 bits and declare the arrays restrict"},
               {"table", run_table, "look the products up in tables"},
               {"planes", run_planes, "store the colours as planes and compute in 16 bits"},
               {"vector", run_vector, "store planes and write it with vector types"}});
