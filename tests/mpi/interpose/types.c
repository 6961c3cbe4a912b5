/* Reductions of complex numbers, truth values, bytes, and the pairs of MPI_MINLOC and MPI_MAXLOC. Every result is
 * compared with the program's own, in place or not, blocking or not. The exit status is the number of failed checks. */
#include <complex.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 3000 };
static int rank, ranks, failures;

typedef struct {
  double value;
  int index;
} DoubleInt;
typedef struct {
  float value;
  int index;
} FloatInt;
typedef struct {
  long value;
  int index;
} LongInt;
typedef struct {
  short value;
  int index;
} ShortInt;
typedef struct {
  int value, index;
} IntInt;

static int of(int r, int i) { return (7 * r + 3 * i) % 5 - 2; } /* equal on several ranks: the index decides */

/* How one kind of element is made, reduced by the plain rule, and compared: gaps are nobody's. */
#define NUMBERS(name, T, make, rule)                                                                                   \
  static void fill_##name(void* to, int r, int count) {                                                                \
    for (int i = 0; i < count; ++i) ((T*)to)[i] = (T)(make);                                                           \
  }                                                                                                                    \
  static void add_##name(void* to, const void* from, int count) {                                                      \
    for (int i = 0; i < count; ++i) {                                                                                  \
      T* a = (T*)to + i;                                                                                               \
      const T* b = (const T*)from + i;                                                                                 \
      *a = (T)(rule);                                                                                                  \
    }                                                                                                                  \
  }                                                                                                                    \
  static int same_##name(const void* a, const void* b, int count) {                                                    \
    return memcmp(a, b, sizeof(T) * (size_t)count) == 0;                                                               \
  }
#define PAIRS(name, T, sign)                                                                                           \
  static void fill_##name(void* to, int r, int count) {                                                                \
    memset(to, 0, sizeof(T) * (size_t)count);                                                                          \
    for (int i = 0; i < count; ++i) {                                                                                  \
      ((T*)to)[i].value = of(r, i);                                                                                    \
      ((T*)to)[i].index = (r * 5 + i) % 7;                                                                             \
    }                                                                                                                  \
  }                                                                                                                    \
  static void add_##name(void* to, const void* from, int count) {                                                      \
    for (int i = 0; i < count; ++i) {                                                                                  \
      T* a = (T*)to + i;                                                                                               \
      const T* b = (const T*)from + i;                                                                                 \
      if (sign * b->value < sign * a->value || (b->value == a->value && b->index < a->index)) *a = *b;                 \
    }                                                                                                                  \
  }                                                                                                                    \
  static int same_##name(const void* a, const void* b, int count) {                                                    \
    for (int i = 0; i < count; ++i)                                                                                    \
      if (((const T*)a)[i].value != ((const T*)b)[i].value || ((const T*)a)[i].index != ((const T*)b)[i].index)        \
        return 0;                                                                                                      \
    return 1;                                                                                                          \
  }
NUMBERS(complexes, double complex, of(r, i) + of(i, r) * I, *a + *b)
NUMBERS(short_complexes, float complex, of(r, i) + of(i, r) * I, *a + *b)
NUMBERS(truths, bool, of(r, i) > 0, *a || *b)
NUMBERS(all_truths, bool, of(r, i) != 0, *a&&* b)
NUMBERS(logicals, int, of(r, i) > 0, !*a != !*b)
NUMBERS(bytes, unsigned char, 1 << (of(r, i) + 2), *a | *b)
PAIRS(double_min, DoubleInt, 1)
PAIRS(double_max, DoubleInt, -1)
PAIRS(float_min, FloatInt, 1)
PAIRS(long_max, LongInt, -1)
PAIRS(short_min, ShortInt, 1)
PAIRS(int_max, IntInt, -1)

typedef struct {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  size_t bytes;
  void (*fill)(void*, int, int);
  void (*add)(void*, const void*, int);
  int (*same)(const void*, const void*, int);
} Kind;

static void expect(int right, const Kind* kind, const char* what, int count) {
  if (right) return;
  if (failures++ < 5) fprintf(stderr, "rank %d of %d: %s of %d %s\n", rank, ranks, what, count, kind->name);
}

static void check(const Kind* kind, int count) {
  static double complex mine[most], theirs[most], expected[most], prefix[most], found[most];
  for (int r = 0; r < ranks; ++r) {
    kind->fill(theirs, r, count);
    if (r == 0)
      memcpy(expected, theirs, kind->bytes * (size_t)count);
    else
      kind->add(expected, theirs, count);
    if (r == rank)
      memcpy(prefix, expected, kind->bytes * (size_t)count), memcpy(mine, theirs, kind->bytes * (size_t)count);
  }
  MPI_Allreduce(mine, found, count, kind->type, kind->op, MPI_COMM_WORLD);
  expect(kind->same(found, expected, count), kind, "an allreduce", count);
  memcpy(found, mine, sizeof found);
  MPI_Allreduce(MPI_IN_PLACE, found, count, kind->type, kind->op, MPI_COMM_WORLD);
  expect(kind->same(found, expected, count), kind, "an allreduce in place", count);
  MPI_Request request;
  memset(found, 0, sizeof found);
  MPI_Iallreduce(mine, found, count, kind->type, kind->op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(kind->same(found, expected, count), kind, "an iallreduce", count);
  MPI_Scan(mine, found, count, kind->type, kind->op, MPI_COMM_WORLD);
  expect(kind->same(found, prefix, count), kind, "a scan", count);
  MPI_Reduce(mine, found, count, kind->type, kind->op, ranks - 1, MPI_COMM_WORLD);
  if (rank == ranks - 1) expect(kind->same(found, expected, count), kind, "a reduce", count);
  if (count % ranks == 0) {
    MPI_Reduce_scatter_block(mine, found, count / ranks, kind->type, kind->op, MPI_COMM_WORLD);
    const char* own = (const char*)expected + kind->bytes * (size_t)(count / ranks * rank);
    expect(kind->same(found, own, count / ranks), kind, "a reduce-scatter", count);
  }
  /* What is only moved is moved with its gaps left alone. */
  memset(found, 0x55, sizeof found);
  memcpy(theirs, found, sizeof found);
  kind->fill(theirs, 0, count);
  if (rank == 0) kind->fill(found, 0, count);
  MPI_Bcast(found, count, kind->type, 0, MPI_COMM_WORLD);
  expect(kind->same(found, theirs, count), kind, "a broadcast", count);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#define KIND(name, type, op, T)                                                                                        \
  { #name, type, op, sizeof(T), fill_##name, add_##name, same_##name }
  const Kind kinds[] = {KIND(complexes, MPI_C_DOUBLE_COMPLEX, MPI_SUM, double complex),
                        KIND(complexes, MPI_DOUBLE_COMPLEX, MPI_SUM, double complex),
                        KIND(short_complexes, MPI_C_FLOAT_COMPLEX, MPI_SUM, float complex),
                        KIND(short_complexes, MPI_COMPLEX, MPI_SUM, float complex),
                        KIND(truths, MPI_C_BOOL, MPI_LOR, bool),
                        KIND(all_truths, MPI_C_BOOL, MPI_LAND, bool),
                        KIND(logicals, MPI_LOGICAL, MPI_LXOR, int),
                        KIND(bytes, MPI_BYTE, MPI_BOR, unsigned char),
                        KIND(double_min, MPI_DOUBLE_INT, MPI_MINLOC, DoubleInt),
                        KIND(double_max, MPI_DOUBLE_INT, MPI_MAXLOC, DoubleInt),
                        KIND(float_min, MPI_FLOAT_INT, MPI_MINLOC, FloatInt),
                        KIND(long_max, MPI_LONG_INT, MPI_MAXLOC, LongInt),
                        KIND(short_min, MPI_SHORT_INT, MPI_MINLOC, ShortInt),
                        KIND(int_max, MPI_2INT, MPI_MAXLOC, IntInt)};
  const int counts[] = {1, 6, 1000, most};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) check(&kinds[k], counts[c]);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures < 100 ? failures : 100;
}
