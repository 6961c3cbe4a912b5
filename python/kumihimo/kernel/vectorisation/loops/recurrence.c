/* y_i = y_(i-1) / 2 + x_i: each result needs the one before it. */
#include "suite.h"

FORM(plain)(double* y, const double* x, long n) {
  if (n > 0) y[0] = x[0];
  for (long i = 1; i < n; ++i) y[i] = 0.5 * y[i - 1] + x[i];
}
FORM(carried)(double* y, const double* x, long n) {
  double last = 0;
  for (long i = 0; i < n; ++i) y[i] = last = 0.5 * last + x[i];
}
FORM(blocked)(double* restrict y, const double* restrict x, long n) {
  double last = 0;
  long i = 0;
  for (; i + 4 <= n; i += 4) {
    const double a = x[i], b = 0.5 * a + x[i + 1], c = 0.5 * b + x[i + 2], d = 0.5 * c + x[i + 3];
    y[i] = 0.5 * last + a;
    y[i + 1] = 0.25 * last + b;
    y[i + 2] = 0.125 * last + c;
    y[i + 3] = last = 0.0625 * last + d;
  }
  for (; i < n; ++i) y[i] = last = 0.5 * last + x[i];
}
/* Steps of 1, then of 2: two vector operations give four results that lack only the part of the last one before. */
typedef double v4 __attribute__((vector_size(32)));
typedef int64_t i4 __attribute__((vector_size(32)));
typedef double v4_u __attribute__((vector_size(32), aligned(1), may_alias));
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAS_SHUFFLE
#endif
#endif
#ifdef HAS_SHUFFLE
FORM(vector)(double* y, const double* x, long n) {
  const v4 zero = {0}, powers = {0.5, 0.25, 0.125, 0.0625};
  double last = 0;
  long i = 0;
  for (; i + 4 <= n; i += 4) {
    v4 a = LOAD(v4, x + i);
    a += 0.5 * __builtin_shufflevector(a, zero, 4, 0, 1, 2);
    a += 0.25 * __builtin_shufflevector(a, zero, 4, 4, 0, 1);
    a += powers * last;
    last = a[3];
    STORE(v4, y + i, a);
  }
  for (; i < n; ++i) y[i] = last = 0.5 * last + x[i];
}
#endif

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(plain)
RUN(carried)
RUN(blocked)
#ifdef HAS_SHUFFLE
RUN(vector)
#endif

LOOP(recurrence, "y_i = y_(i-1) / 2 + x_i", {F64, 1, 1, 0}, {{F64, 1, 1, 0}}, .roundings = 1, .roundings_of_n = 2,
     .flops = 2, .flops_power = 1,
     .forms = {
         {"plain", run_plain, ""},
         {"carried", run_carried, "carry the last result in a variable"},
         {"blocked", run_blocked, "compute 4 results from the last one of the block before"},
#ifdef HAS_SHUFFLE
         {"vector", run_vector, "compute 4 results at once with vector types (parallel prefix)"},
#endif
     });
