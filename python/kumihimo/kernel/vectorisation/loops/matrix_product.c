/* C = A B, of square matrices of doubles stored by rows. */
#include "suite.h"

FORM(ijk)(double* c, const double* a, const double* b, long n) {
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      double sum = 0;
      for (long k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}
FORM(ikj)(double* c, const double* a, const double* b, long n) {
  memset(c, 0, (size_t)(n * n) * sizeof *c);
  for (long i = 0; i < n; ++i)
    for (long k = 0; k < n; ++k)
      for (long j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
FORM(ikj_restricted)(double* restrict c, const double* restrict a, const double* restrict b, long n) {
  memset(c, 0, (size_t)(n * n) * sizeof *c);
  for (long i = 0; i < n; ++i)
    for (long k = 0; k < n; ++k) {
      const double factor = a[i * n + k];
      for (long j = 0; j < n; ++j) c[i * n + j] += factor * b[k * n + j];
    }
}
enum { block = 64 };
static long least(long a, long b) { return a < b ? a : b; }
FORM(blocked)(double* restrict c, const double* restrict a, const double* restrict b, long n) {
  memset(c, 0, (size_t)(n * n) * sizeof *c);
  for (long kk = 0; kk < n; kk += block)
    for (long jj = 0; jj < n; jj += 4 * block)
      for (long i = 0; i < n; ++i)
        for (long k = kk; k < least(kk + block, n); ++k) {
          const double factor = a[i * n + k];
          for (long j = jj; j < least(jj + 4 * block, n); ++j) c[i * n + j] += factor * b[k * n + j];
        }
}
/* 4 rows of 2 vectors stay in registers while k runs over a block, whose part of B is packed by columns of 2 vectors.
 */
FORM(tiled)(double* restrict c, const double* restrict a, const double* restrict b, long n) {
  enum { v = LANES(vf64), wide = 2 * v, deep = 256 };
  static double packed[deep * wide] __attribute__((aligned(64)));
  memset(c, 0, (size_t)(n * n) * sizeof *c);
  const long whole = n / wide * wide;
  for (long kk = 0; kk < n; kk += deep) {
    const long depth = least(deep, n - kk);
    for (long j = 0; j < whole; j += wide) {
      for (long k = 0; k < depth; ++k) memcpy(packed + k * wide, b + (kk + k) * n + j, sizeof(double) * wide);
      long i = 0;
      for (; i + 4 <= n; i += 4) {
        const double *a0 = a + i * n + kk, *a1 = a0 + n, *a2 = a1 + n, *a3 = a2 + n;
        double* at = c + i * n + j;
        vf64 c00 = LOAD(vf64, at), c01 = LOAD(vf64, at + v);
        vf64 c10 = LOAD(vf64, at + n), c11 = LOAD(vf64, at + n + v);
        vf64 c20 = LOAD(vf64, at + 2 * n), c21 = LOAD(vf64, at + 2 * n + v);
        vf64 c30 = LOAD(vf64, at + 3 * n), c31 = LOAD(vf64, at + 3 * n + v);
        for (long k = 0; k < depth; ++k) {
          const vf64 b0 = LOAD(vf64, packed + k * wide), b1 = LOAD(vf64, packed + k * wide + v);
          c00 += a0[k] * b0;
          c01 += a0[k] * b1;
          c10 += a1[k] * b0;
          c11 += a1[k] * b1;
          c20 += a2[k] * b0;
          c21 += a2[k] * b1;
          c30 += a3[k] * b0;
          c31 += a3[k] * b1;
        }
        STORE(vf64, at, c00);
        STORE(vf64, at + v, c01);
        STORE(vf64, at + n, c10);
        STORE(vf64, at + n + v, c11);
        STORE(vf64, at + 2 * n, c20);
        STORE(vf64, at + 2 * n + v, c21);
        STORE(vf64, at + 3 * n, c30);
        STORE(vf64, at + 3 * n + v, c31);
      }
      for (; i < n; ++i)
        for (long k = 0; k < depth; ++k)
          for (long jj = 0; jj < wide; ++jj) c[i * n + j + jj] += a[i * n + kk + k] * packed[k * wide + jj];
    }
    for (long i = 0; i < n; ++i)
      for (long k = kk; k < kk + depth; ++k)
        for (long j = whole; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}

#define RUN(form)                                                                                                      \
  static void run_##form(const struct data* d) { form(d->out, d->in[0], d->in[1], d->n); }
RUN(ijk)
RUN(ikj)
RUN(ikj_restricted)
RUN(blocked)
RUN(tiled)

LOOP(matrix_product, "matrix product of doubles", {F64, 1, 2, 0}, {{F64, 1, 2, 0}, {F64, 1, 2, 0}}, .roundings = 2,
     .roundings_of_n = 1, .flops = 2, .flops_power = 3, .sizes = {100, 300, 1000},
     .forms = {{"ijk", run_ijk, ""},
               {"ikj", run_ikj, "order the loops i, k, j"},
               {"ikj restrict", run_ikj_restricted, "order the loops i, k, j and declare the arrays restrict"},
               {"blocked", run_blocked, "block the loops over k and j for the cache"},
               {"tiled", run_tiled, "call a BLAS, or keep a tile of C in vector registers"}});
