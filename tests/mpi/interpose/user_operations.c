/* Reductions with the program's own operations, on types with gaps and without. Every result is compared with the
 * program's own. Operands that are integers show every bit. The program passes with the library alone as well. The exit
 * status is the number of failed checks, at most 100. */
#include <complex.h>
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most_bytes = 1 << 20, big = 9000, untouched = 0x55 };
/* MPICH 4.0 crashes in its own MPI_Reduce in place of long vectors by such operations. */
#ifdef MPICH_VERSION
#define MPICH_READS_IN_PLACE(bytes) (library_alone && (bytes) >= 2048)
#else
#define MPICH_READS_IN_PLACE(bytes) 0
#endif
static int rank, ranks, failures, library_alone;
static long main_thread, calls_of_functions;

static void expect(int right, const char* name, const char* what, int count) {
  if (right) return;
  if (failures++ < 5) fprintf(stderr, "rank %d of %d: %s of %d %s\n", rank, ranks, what, count, name);
}

static int of(int r, int i) { return (7 * r + 3 * i) % 11 - 5; }

/* What MPI and we promise to a function: the thread of the call, and the alignment of its type. */
static void look(const void* in, const void* inout, size_t alignment, const char* name) {
  ++calls_of_functions;
  expect(syscall(SYS_gettid) == main_thread, name, "a function on another thread", 0);
  expect((uintptr_t)in % alignment == 0 && (uintptr_t)inout % alignment == 0, name, "an operand out of line", 0);
}

/* A kind of element: how one is made, b combined into a, compared; and the function of its operation. */
#define ELEMENTS(name, T, make, rule, equal)                                                                           \
  static void fill_##name(void* to, int r, int count) {                                                                \
    for (int i = 0; i < count; ++i) {                                                                                  \
      T* e = (T*)to + i;                                                                                               \
      make;                                                                                                            \
    }                                                                                                                  \
  }                                                                                                                    \
  static void add_##name(void* to, const void* from, int count) {                                                      \
    for (int i = 0; i < count; ++i) {                                                                                  \
      T* a = (T*)to + i;                                                                                               \
      const T* b = (const T*)from + i;                                                                                 \
      rule;                                                                                                            \
    }                                                                                                                  \
  }                                                                                                                    \
  static int same_##name(const void* found, const void* right, int count) {                                            \
    for (int i = 0; i < count; ++i) {                                                                                  \
      const T *a = (const T*)found + i, *b = (const T*)right + i;                                                      \
      if (!(equal)) return 0;                                                                                          \
    }                                                                                                                  \
    return 1;                                                                                                          \
  }                                                                                                                    \
  static void by_##name(void* in, void* inout, int* count, MPI_Datatype* type) {                                       \
    (void)type;                                                                                                        \
    look(in, inout, _Alignof(T), #name);                                                                               \
    add_##name(inout, in, *count);                                                                                     \
  }

typedef struct {
  long a[3];
  int b, c;
} Record;
ELEMENTS(records, Record, (e->a[0] = of(r, i), e->a[1] = r, e->a[2] = i, e->b = of(i, r), e->c = 1 << r),
         (a->a[0] += b->a[0], a->a[1] ^= b->a[1], a->a[2] += b->a[2], a->b += b->b, a->c |= b->c),
         memcmp(a, b, sizeof *a) == 0)

typedef struct {
  double value;
  int index; /* and 4 bytes of nobody */
} Best;
ELEMENTS(best, Best, (e->value = of(r, i), e->index = (r * 5 + i) % 7),
         if (b->value > a->value || (b->value == a->value && b->index < a->index)) * a = *b,
         a->value == b->value && a->index == b->index)

typedef struct {
  int kept, sum; /* `kept` and `also` are not of the type */
  char also;
  short most;
} Sparse;
ELEMENTS(sparse, Sparse, (e->sum = of(r, i), e->most = (short)of(i, r)),
         (a->sum += b->sum, a->most = b->most > a->most ? b->most : a->most),
         a->sum == b->sum && a->most == b->most && a->kept == 0x55555555 && a->also == untouched)

typedef struct {
  long v[big];
} Big; /* longer than a slot of ours */
ELEMENTS(bigs, Big, for (int k = 0; k < big; ++k) e->v[k] = of(r, i + k),
         for (int k = 0; k < big; ++k) a->v[k] += b->v[k], memcmp(a, b, sizeof *a) == 0)

typedef struct {
  short v[5];
} Odd;
ELEMENTS(odd, Odd, for (int k = 0; k < 5; ++k) e->v[k] = (short)of(r, i + k),
         for (int k = 0; k < 5; ++k) a->v[k] += b->v[k], memcmp(a, b, sizeof *a) == 0)

ELEMENTS(ints, int, (*e = of(r, i)), (*a += *b), *a == *b)
ELEMENTS(long_doubles, long double, (*e = of(r, i)), (*a += *b), *a == *b)

typedef struct {
  double complex m[4];
} Matrix;
ELEMENTS(matrices, Matrix,
         (e->m[0] = 1 + r % 2, e->m[1] = r == 0 ? I : 1, e->m[2] = i % 2, e->m[3] = r == 1 ? 2 * I : 1),
         const double complex p = a->m[0] * b->m[0] + a->m[1] * b->m[2];
         const double complex q = a->m[0] * b->m[1] + a->m[1] * b->m[3];
         const double complex s = a->m[2] * b->m[0] + a->m[3] * b->m[2];
         a->m[3] = a->m[2] * b->m[1] + a->m[3] * b->m[3]; a->m[0] = p; a->m[1] = q;
         a->m[2] = s, memcmp(a, b, sizeof *a) == 0)

/* The left operand is `in`. */
static void product(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) {
    Matrix left = ((Matrix*)in)[i];
    add_matrices(&left, (Matrix*)inout + i, 1);
    ((Matrix*)inout)[i] = left;
  }
}

typedef struct {
  const char* name;
  size_t bytes;
  void (*fill)(void*, int, int);
  void (*add)(void*, const void*, int);
  int (*same)(const void*, const void*, int);
  MPI_User_function* function;
  MPI_Datatype type;
  int most; /* elements */
} Kind;

static _Alignas(16) char mine[most_bytes], theirs[most_bytes], expected[most_bytes], prefix[most_bytes],
    before[most_bytes], found[most_bytes];

static void in_place(const Kind* kind, int count) {
  memset(found, untouched, sizeof found);
  kind->fill(found, rank, count);
}

static void check_blocks(const Kind* kind, MPI_Op op, int count) {
  if (count % ranks == 0) {
    const int each = count / ranks;
    const char* own = expected + kind->bytes * (size_t)(each * rank);
    memset(found, untouched, sizeof found);
    MPI_Reduce_scatter_block(mine, found, each, kind->type, op, MPI_COMM_WORLD);
    expect(kind->same(found, own, each), kind->name, "a reduce-scatter", count);
    in_place(kind, count);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, found, each, kind->type, op, MPI_COMM_WORLD);
    expect(kind->same(found, own, each), kind->name, "a reduce-scatter in place", count);
  }
  int counts[64], first = 0, left = count; /* the last rank has most, the others none or one */
  for (int r = 0; r < ranks; ++r) counts[r] = r == ranks - 1 ? left : r % 2 && left > 0, left -= counts[r];
  for (int r = 0; r < rank; ++r) first += counts[r];
  memset(found, untouched, sizeof found);
  MPI_Reduce_scatter(mine, found, counts, kind->type, op, MPI_COMM_WORLD);
  expect(kind->same(found, expected + kind->bytes * (size_t)first, counts[rank]), kind->name,
         "a reduce-scatter of different blocks", count);
}

static void check(const Kind* kind, MPI_Op op, int count) {
  const size_t bytes = kind->bytes * (size_t)count;
  memset(mine, untouched, sizeof mine), memset(expected, untouched, sizeof expected);
  for (int r = 0; r < ranks; ++r) {
    memset(theirs, untouched, sizeof theirs);
    kind->fill(theirs, r, count);
    if (r == rank) memcpy(before, expected, bytes), memcpy(mine, theirs, bytes);
    if (r == 0)
      memcpy(expected, theirs, bytes);
    else
      kind->add(expected, theirs, count);
    if (r == rank) memcpy(prefix, expected, bytes);
  }
  memset(found, untouched, sizeof found);
  MPI_Allreduce(mine, found, count, kind->type, op, MPI_COMM_WORLD);
  expect(kind->same(found, expected, count), kind->name, "an allreduce", count);
  in_place(kind, count);
  MPI_Allreduce(MPI_IN_PLACE, found, count, kind->type, op, MPI_COMM_WORLD);
  expect(kind->same(found, expected, count), kind->name, "an allreduce in place", count);
  in_place(kind, count); /* on some ranks alone */
  MPI_Allreduce(rank % 2 ? MPI_IN_PLACE : mine, found, count, kind->type, op, MPI_COMM_WORLD);
  expect(kind->same(found, expected, count), kind->name, "an allreduce in place on some ranks", count);
  MPI_Request request;
  memset(found, untouched, sizeof found);
  MPI_Iallreduce(mine, found, count, kind->type, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(kind->same(found, expected, count), kind->name, "an iallreduce", count);
  for (int root = 0; root < ranks; ++root)
    for (int here = 0; here < 2; ++here) {
      if (here && MPICH_READS_IN_PLACE(bytes)) continue;
      memset(found, untouched, sizeof found);
      if (here) in_place(kind, count);
      MPI_Reduce(here && rank == root ? MPI_IN_PLACE : mine, rank == root ? found : NULL, count, kind->type, op, root,
                 MPI_COMM_WORLD);
      if (rank == root) expect(kind->same(found, expected, count), kind->name, "a reduce", count);
    }
  memset(found, untouched, sizeof found);
  MPI_Scan(mine, found, count, kind->type, op, MPI_COMM_WORLD);
  expect(kind->same(found, prefix, count), kind->name, "a scan", count);
  in_place(kind, count);
  MPI_Scan(MPI_IN_PLACE, found, count, kind->type, op, MPI_COMM_WORLD);
  expect(kind->same(found, prefix, count), kind->name, "a scan in place", count);
  memset(found, untouched, sizeof found);
  MPI_Exscan(mine, found, count, kind->type, op, MPI_COMM_WORLD);
  if (rank > 0) expect(kind->same(found, before, count), kind->name, "an exscan", count);
  in_place(kind, count);
  MPI_Exscan(MPI_IN_PLACE, found, count, kind->type, op, MPI_COMM_WORLD);
  if (rank > 0) expect(kind->same(found, before, count), kind->name, "an exscan in place", count);
  check_blocks(kind, op, count);
}

static MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

/* Two parts of a structure, one element at each place. */
static MPI_Datatype pair_of(MPI_Datatype first, size_t at, MPI_Datatype second, size_t then, size_t bytes) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {(MPI_Aint)at, (MPI_Aint)then};
  const MPI_Datatype types[] = {first, second};
  MPI_Datatype parts, whole;
  MPI_Type_create_struct(2, lengths, places, types, &parts);
  MPI_Type_create_resized(parts, 0, (MPI_Aint)bytes, &whole);
  MPI_Type_free(&parts);
  return committed(whole);
}

static MPI_Datatype row_of(int count, MPI_Datatype type) {
  MPI_Datatype row;
  MPI_Type_contiguous(count, type, &row);
  return committed(row);
}

static MPI_Datatype type_of_records(void) {
  const int lengths[] = {3, 2};
  const MPI_Aint places[] = {offsetof(Record, a), offsetof(Record, b)};
  const MPI_Datatype types[] = {MPI_LONG, MPI_INT};
  MPI_Datatype whole;
  MPI_Type_create_struct(2, lengths, places, types, &whole);
  return committed(whole);
}

static void free_derived(MPI_Datatype type) {
  int integers, addresses, types, combiner;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&type);
}

static void kinds(void) {
#define KIND(name, T, type, most)                                                                                      \
  { #name, sizeof(T), fill_##name, add_##name, same_##name, by_##name, type, most }
  const Kind all[] = {
      KIND(records, Record, type_of_records(), 20000),
      KIND(best, Best, pair_of(MPI_DOUBLE, 0, MPI_INT, offsetof(Best, index), sizeof(Best)), 20000),
      KIND(best, Best, MPI_DOUBLE_INT, 2000),
      KIND(sparse, Sparse, pair_of(MPI_INT, offsetof(Sparse, sum), MPI_SHORT, offsetof(Sparse, most), sizeof(Sparse)),
           20000),
      KIND(bigs, Big, row_of(big, MPI_LONG), 6),
      KIND(odd, Odd, row_of(5, MPI_SHORT), 2000),
      KIND(ints, int, MPI_INT, 20000),
      KIND(long_doubles, long double, MPI_LONG_DOUBLE, 2000),
  };
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    MPI_Op op;
    MPI_Op_create(all[k].function, 1, &op);
    const int counts[] = {1, 2, 3, 6, 100, 1000, 2000, 20000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c)
      if (counts[c] <= all[k].most) check(&all[k], op, counts[c]);
    MPI_Allreduce(NULL, NULL, 0, all[k].type, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    free_derived(all[k].type);
  }
  Kind ordered = KIND(matrices, Matrix, row_of(4, MPI_C_DOUBLE_COMPLEX), 0);
  MPI_Op op;
  MPI_Op_create(product, 0, &op);
  library_alone = 1; /* as it is with these */
  check(&ordered, op, 1), check(&ordered, op, 60);
  MPI_Op_free(&op);
  free_derived(ordered.type);
}

/* --- operations and types that end, and others that get their handles */

/* The world's ranks, whose plans are kept: of the world's own communicator there are too many. */
static MPI_Comm fresh;

static int ints_of(MPI_Datatype* type) { /* as programs ask */
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  return bytes / (int)sizeof(int);
}
static void sum_of_ints(void* in, void* inout, int* count, MPI_Datatype* type) {
  for (int i = 0; i < *count * ints_of(type); ++i) ((int*)inout)[i] += ((int*)in)[i];
}
static void most_of_ints(void* in, void* inout, int* count, MPI_Datatype* type) {
  for (int i = 0; i < *count * ints_of(type); ++i)
    if (((int*)in)[i] > ((int*)inout)[i]) ((int*)inout)[i] = ((int*)in)[i];
}
static void first_of_ints(void* in, void* inout, int* count, MPI_Datatype* type) {
  memcpy(inout, in, (size_t)(*count * ints_of(type)) * sizeof(int));
}

static void handles_again(void) {
  MPI_User_function* const functions[] = {sum_of_ints, most_of_ints, first_of_ints};
  MPI_Op last = MPI_OP_NULL;
  MPI_Datatype last_type = MPI_DATATYPE_NULL;
  int again = 0;
  for (int turn = 0; turn < 24; ++turn) {
    enum { count = 7 };
    const int f = turn % 3, length = turn % 2 ? 5 : 3, derived = turn % 4 != 3;
    MPI_Op op;
    MPI_Op_create(functions[f], f != 2, &op); /* the last one does not commute */
    MPI_Datatype row = derived ? row_of(length, MPI_INT) : MPI_INT;
    again += op == last || (derived && row == last_type);
    last = op, last_type = row;
    for (int repeat = 0; repeat < 2; ++repeat) {
      int in[count * 5], out[count * 5], right = 1;
      const int all = count * (derived ? length : 1);
      for (int i = 0; i < all; ++i) in[i] = rank + i, out[i] = -1;
      MPI_Allreduce(in, out, count, row, op, fresh);
      for (int i = 0; i < all; ++i)
        right &= out[i] == (f == 0 ? ranks * (ranks - 1) / 2 + ranks * i : f == 1 ? ranks - 1 + i : i);
      expect(right, f == 0 ? "sums" : f == 1 ? "maxima" : "firsts", "an operation with a handle used before", turn);
    }
    MPI_Op_free(&op);
    if (derived) MPI_Type_free(&row);
  }
  expect(again > 0, "handles", "no handle came again: nothing was shown", again);
}

/* --- types whose layouts differ between the ranks, and from call to call */

static MPI_Datatype wide;
static void sum_of_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  const int step = *type == wide ? 3 : 1;
  for (int i = 0; i < 2 * *count; ++i) ((int*)inout)[i * step] += ((int*)in)[i * step];
}

static void layouts(void) {
  enum { most = 500 };
  MPI_Op op;
  MPI_Op_create(sum_of_pairs, 1, &op);
  MPI_Datatype narrow = row_of(2, MPI_INT), vector;
  MPI_Type_vector(2, 1, 3, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 6 * sizeof(int), &wide);
  MPI_Type_commit(&wide);
  for (int turn = 0; turn < 12; ++turn) {
    static int in[6 * most], out[6 * most];
    const int count = turn % 2 ? most : 1;
    const int is_wide = turn / 2 % 3 == 1 ? rank % 2 : turn / 2 % 3 == 2, step = is_wide ? 3 : 1;
    for (int i = 0; i < 6 * most; ++i) in[i] = 1 << 20, out[i] = -7;
    for (int i = 0; i < 2 * count; ++i) in[i * step] = rank + i;
    MPI_Allreduce(in, out, count, is_wide ? wide : narrow, op, fresh);
    int right = 1;
    for (int i = 0; i < 6 * most; ++i) {
      const int is_data = i % step == 0 && i / step < 2 * count;
      right &= out[i] == (is_data ? ranks * (ranks - 1) / 2 + ranks * (i / step) : -7);
    }
    expect(right, "pairs", "a layout of each rank's own", count);
  }
  MPI_Type_free(&vector), MPI_Type_free(&narrow), MPI_Type_free(&wide);
  MPI_Op_free(&op);
}

/* --- operands are aligned as we promise, although the program's are not */

static void by_lined_up_records(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  look(in, inout, 16, "records");
  add_records(inout, in, *count);
}

static void alignment(void) {
  enum { count = 600 };
  MPI_Op op;
  MPI_Op_create(by_lined_up_records, 1, &op);
  MPI_Datatype type = type_of_records();
  Record *in = (Record*)(mine + 8), *out = (Record*)(found + 8), *right = (Record*)expected;
  for (int r = 0; r < ranks; ++r)
    if (fill_records(r == 0 ? right : (Record*)theirs, r, count), r > 0) add_records(right, (Record*)theirs, count);
  fill_records(in, rank, count);
  MPI_Allreduce(in, out, count, type, op, fresh);
  expect(same_records(out, right, count), "records", "an allreduce out of line", count);
  MPI_Allreduce(MPI_IN_PLACE, in, count, type, op, fresh);
  expect(same_records(in, right, count), "records", "an allreduce in place out of line", count);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

/* --- a function is called by the thread of its call, also while other threads move other calls */

static MPI_Comm of_other_thread;
static void* waits(void* nothing) {
  for (int turn = 0; turn < 100; ++turn) {
    int in = turn, out = -1;
    MPI_Request request;
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, of_other_thread, &request);
    if (turn % ranks == rank) usleep(1000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (out != ranks * turn) of_other_thread = MPI_COMM_NULL; /* found by the main thread */
  }
  return nothing;
}

static void beside_nonblocking(void) {
  enum { count = 100000 };
  static long long_in[count], long_out[count];
  MPI_Op op;
  MPI_Op_create(by_records, 1, &op);
  MPI_Datatype type = type_of_records();
  pthread_t thread;
  int threads = 0, first = 1, sum = 0;
  MPI_Query_thread(&threads);
  if (threads == MPI_THREAD_MULTIPLE) {
    MPI_Comm_dup(fresh, &of_other_thread);
    MPI_Allreduce(&first, &sum, 1, MPI_INT, MPI_SUM, of_other_thread); /* sets it up */
    pthread_create(&thread, NULL, waits, NULL);
  }
  for (int turn = 0; turn < 30; ++turn) {
    MPI_Request request;
    Record in[40], out[40], right[40], other[40];
    for (int i = 0; i < count; ++i) long_in[i] = i + rank;
    fill_records(in, rank, 40);
    for (int r = 0; r < ranks; ++r)
      if (fill_records(r == 0 ? right : other, r, 40), r > 0) add_records(right, other, 40);
    MPI_Iallreduce(long_in, long_out, count, MPI_LONG, MPI_SUM, fresh, &request);
    if (turn % ranks == rank) usleep(3000);
    MPI_Allreduce(in, out, 40, type, op, fresh);
    expect(same_records(out, right, 40), "records", "an allreduce beside an iallreduce", turn);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(long_out[count - 1] == (long)ranks * (count - 1) + ranks * (ranks - 1) / 2, "longs", "an iallreduce", turn);
  }
  if (threads == MPI_THREAD_MULTIPLE) {
    pthread_join(thread, NULL);
    expect(of_other_thread != MPI_COMM_NULL, "ints", "an iallreduce of another thread", 1);
    if (of_other_thread != MPI_COMM_NULL) MPI_Comm_free(&of_other_thread);
  }
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  library_alone = argc > 1;
  main_thread = syscall(SYS_gettid);
  kinds();
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  handles_again();
  layouts();
  if (argc == 1) alignment();
  beside_nonblocking();
  MPI_Comm_free(&fresh);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures < 100 ? failures : 100;
}
