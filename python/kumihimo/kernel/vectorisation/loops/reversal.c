/* y_i = x_(n-1-i), of 32-bit integers. */
#include "suite.h"

FORM(plain)(int32_t* y, const int32_t* x, long n) {
  for (long i = 0; i < n; ++i) y[i] = x[n - 1 - i];
}
FORM(unsigned_index)(int32_t* y, const int32_t* x, long n) {
  const unsigned many = (unsigned)n;
  for (unsigned i = 0; i < many; ++i) y[i] = x[many - 1 - i];
}
FORM(restricted)(int32_t* restrict y, const int32_t* restrict x, long n) {
  for (long i = 0; i < n; ++i) y[i] = x[n - 1 - i];
}
FORM(pointer)(int32_t* y, const int32_t* x, long n) {
  for (const int32_t* at = x + n; at != x;) *y++ = *--at;
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(unsigned_index)
RUN(restricted)
RUN(pointer)

LOOP(reversal, "reversal of 32-bit integers", {I32, 1, 1, 0}, {{I32, 1, 1, 0}},
     .forms = {{"plain", run_plain, ""},
               {"restrict", run_restricted, "declare the arrays restrict"},
               {"unsigned index", run_unsigned_index, "index with unsigned"},
               {"pointer", run_pointer, "step pointers instead of an index"}});
