/* The place of the first zero byte, the last of the array: a loop whose end the data say. */
#include "suite.h"

FORM(plain)(int64_t* out, const uint8_t* s, long n) {
  long i = 0;
  while (i < n && s[i] != 0) ++i;
  *out = i;
}
FORM(unrolled)(int64_t* out, const uint8_t* s, long n) {
  long i = 0;
  for (; i + 4 <= n; i += 4) {
    if (s[i] == 0) break;
    if (s[i + 1] == 0) {
      i += 1;
      break;
    }
    if (s[i + 2] == 0) {
      i += 2;
      break;
    }
    if (s[i + 3] == 0) {
      i += 3;
      break;
    }
  }
  while (i < n && s[i] != 0) ++i;
  *out = i;
}
FORM(blocks)(int64_t* out, const uint8_t* s, long n) {
  enum { block = 64 };
  long i = 0;
  for (; i + block <= n; i += block) {
    uint8_t found = 0;
    for (int j = 0; j < block; ++j) found |= s[i + j] == 0;
    if (found) break;
  }
  while (i < n && s[i] != 0) ++i;
  *out = i;
}
FORM(words)(int64_t* out, const uint8_t* s, long n) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  long i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word;
    memcpy(&word, s + i, 8);
    if ((word - ones) & ~word & (ones << 7)) break;
  }
  while (i < n && s[i] != 0) ++i;
  *out = i;
}
FORM(library)(int64_t* out, const uint8_t* s, long n) {
  const uint8_t* at = n > 0 ? memchr(s, 0, (size_t)n) : 0;
  *out = at ? at - s : n;
}

static void prepare(const struct data* d) {
  if (d->n > 0) ((uint8_t*)d->in[0])[d->n - 1] = 0;
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(unrolled)
RUN(blocks)
RUN(words)
RUN(library)

LOOP(find_byte, "search for a byte", {I64, 0, 0, 1}, {{U8, 1, 1, 0, POSITIVE}}, .prepare = prepare,
     .forms = {{"plain", run_plain, ""},
               {"unrolled", run_unrolled, "unroll by 4 by hand"},
               {"words", run_words, "test 8 bytes of a word at once"},
               {"blocks", run_blocks, "test blocks of 64 bytes without a branch"},
               {"library", run_library, "call memchr"}});
