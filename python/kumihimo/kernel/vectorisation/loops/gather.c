/* y_i = x[index_i], of doubles. */
#include "suite.h"

FORM(plain)(double* y, const double* x, const int32_t* index, long n) {
  for (long i = 0; i < n; ++i) y[i] = x[index[i]];
}
FORM(restricted)(double* restrict y, const double* restrict x, const int32_t* restrict index, long n) {
  for (long i = 0; i < n; ++i) y[i] = x[index[i]];
}
FORM(unrolled)(double* y, const double* x, const int32_t* index, long n) {
  long i = 0;
  for (; i + 4 <= n; i += 4) {
    const double a = x[index[i]], b = x[index[i + 1]], c = x[index[i + 2]], d = x[index[i + 3]];
    y[i] = a;
    y[i + 1] = b;
    y[i + 2] = c;
    y[i + 3] = d;
  }
  for (; i < n; ++i) y[i] = x[index[i]];
}
FORM(prefetched)(double* restrict y, const double* restrict x, const int32_t* restrict index, long n) {
  enum { ahead = 64 };
  long i = 0;
  for (; i + ahead < n; ++i) {
    __builtin_prefetch(x + index[i + ahead]);
    y[i] = x[index[i]];
  }
  for (; i < n; ++i) y[i] = x[index[i]];
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->in[1], d->n); }
RUN(plain)
RUN(restricted)
RUN(unrolled)
RUN(prefetched)

LOOP(gather, "y_i = x[index_i] of doubles", {F64, 1, 1, 0}, {{F64, 1, 1, 0}, {I32, 1, 1, 0, INDICES}},
     .forms = {{"plain", run_plain, ""},
               {"restrict", run_restricted, "declare the arrays restrict"},
               {"unrolled", run_unrolled, "load 4 elements before storing them"},
               {"prefetched", run_prefetched, "prefetch 64 elements ahead"}});
