/* B = A^T, of square matrices of doubles stored by rows. */
#include "suite.h"

FORM(read_rows)(double* b, const double* a, long n) {
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) b[j * n + i] = a[i * n + j];
}
FORM(write_rows)(double* b, const double* a, long n) {
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) b[i * n + j] = a[j * n + i];
}
static long least(long a, long b) { return a < b ? a : b; }
FORM(blocked)(double* restrict b, const double* restrict a, long n) {
  enum { block = 16 };
  for (long ii = 0; ii < n; ii += block)
    for (long jj = 0; jj < n; jj += block)
      for (long i = ii; i < least(ii + block, n); ++i)
        for (long j = jj; j < least(jj + block, n); ++j) b[i * n + j] = a[j * n + i];
}
typedef double v4 __attribute__((vector_size(32)));
typedef double v4_u __attribute__((vector_size(32), aligned(1), may_alias));
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAS_SHUFFLE
#endif
#endif
#ifdef HAS_SHUFFLE
static inline void transpose4(double* b, const double* a, long n) {
  const v4 r0 = LOAD(v4, a), r1 = LOAD(v4, a + n), r2 = LOAD(v4, a + 2 * n), r3 = LOAD(v4, a + 3 * n);
  const v4 t0 = __builtin_shufflevector(r0, r1, 0, 4, 2, 6), t1 = __builtin_shufflevector(r0, r1, 1, 5, 3, 7);
  const v4 t2 = __builtin_shufflevector(r2, r3, 0, 4, 2, 6), t3 = __builtin_shufflevector(r2, r3, 1, 5, 3, 7);
  STORE(v4, b, __builtin_shufflevector(t0, t2, 0, 1, 4, 5));
  STORE(v4, b + n, __builtin_shufflevector(t1, t3, 0, 1, 4, 5));
  STORE(v4, b + 2 * n, __builtin_shufflevector(t0, t2, 2, 3, 6, 7));
  STORE(v4, b + 3 * n, __builtin_shufflevector(t1, t3, 2, 3, 6, 7));
}
FORM(vector)(double* b, const double* a, long n) {
  enum { block = 16 };
  const long whole = n / 4 * 4;
  for (long ii = 0; ii < whole; ii += block)
    for (long jj = 0; jj < whole; jj += block)
      for (long i = ii; i < least(ii + block, whole); i += 4)
        for (long j = jj; j < least(jj + block, whole); j += 4) transpose4(b + i * n + j, a + j * n + i, n);
  for (long i = 0; i < n; ++i)
    for (long j = i < whole ? whole : 0; j < n; ++j) b[i * n + j] = a[j * n + i];
}
#endif

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->n); }
RUN(read_rows)
RUN(write_rows)
RUN(blocked)
#ifdef HAS_SHUFFLE
RUN(vector)
#endif

LOOP(transpose, "transpose of a matrix of doubles", {F64, 1, 2, 0}, {{F64, 1, 2, 0}}, .sizes = {40, 150, 1500},
     .forms = {
         {"read rows", run_read_rows, ""},
         {"write rows", run_write_rows, "write rows and read columns"},
         {"blocked", run_blocked, "transpose blocks of 16 x 16, with restrict"},
#ifdef HAS_SHUFFLE
         {"vector", run_vector, "transpose tiles of 4 x 4 with vector types, in blocks"},
#endif
     });
