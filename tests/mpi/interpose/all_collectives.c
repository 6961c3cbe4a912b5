/* Every collective, blocking and non-blocking, with all that MPI allows. Each call is made twice: by its name, which
 * our object may run, and by the library's own function. Both must write the same bytes and leave the others alone. The
 * exit status is the number of failed checks, at most 100. */
#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum kind {
  barrier,
  bcast,
  reduce,
  allreduce,
  scan,
  exscan,
  gather,
  scatter,
  allgather,
  reduce_scatter_block,
  reduce_scatter,
  alltoall,
  kinds,
  allgatherv
};
static const char* names[] = {"barrier",        "bcast",    "reduce",  "allreduce", "scan",
                              "exscan",         "gather",   "scatter", "allgather", "reduce_scatter_block",
                              "reduce_scatter", "alltoall", "",        "allgatherv"};
static int rank, failures;

/* A call: what is asked for, and what this rank passes. */
struct call {
  enum kind kind;
  int n, root, in_place;        /* n: of a block, in pairs of ints */
  MPI_Datatype sends, receives; /* pairs of ints, each rank's own affair */
  MPI_Op op;
  MPI_Comm comm;
  int *counts, *displacements;
  int *from, *to;
  MPI_Request request;
};

static int reduces(enum kind k) {
  return k == reduce || k == allreduce || k == scan || k == exscan || k == reduce_scatter_block || k == reduce_scatter;
}

/* By the name or the library's own function; blocking or begun. */
#ifdef MPICH
enum { IS_MPICH = 1 };
#else
enum { IS_MPICH = 0 };
#endif

static int make(struct call* c, int library, int begun) {
  int me, ints = 2 * c->n;
  MPI_Comm_rank(c->comm, &me);
  const int at_root = me == c->root;
  const void* from = c->in_place ? MPI_IN_PLACE : (void*)c->from;
  const void* from_but_root = c->in_place && at_root ? MPI_IN_PLACE : (void*)c->from;
  void* to = c->kind == scatter && c->in_place && at_root ? MPI_IN_PLACE : (void*)c->to;
  switch (c->kind) {
  case barrier: CALL(Barrier, Ibarrier, c->comm);
  case bcast: CALL(Bcast, Ibcast, c->to, c->n, c->receives, c->root, c->comm);
  case reduce: CALL(Reduce, Ireduce, from_but_root, at_root ? c->to : NULL, ints, MPI_INT, c->op, c->root, c->comm);
  case allreduce: CALL(Allreduce, Iallreduce, from, c->to, ints, MPI_INT, c->op, c->comm);
  case scan: CALL(Scan, Iscan, from, c->to, ints, MPI_INT, c->op, c->comm);
  case exscan: { /* the first rank gets nothing, yet MPICH refuses no buffer */
    void* const gets = me || c->in_place || IS_MPICH ? c->to : NULL;
    CALL(Exscan, Iexscan, from, gets, ints, MPI_INT, c->op, c->comm);
  }
  case gather: /* what does not count on this rank may be anything */
    CALL(Gather, Igather, from_but_root, c->n, c->sends, at_root ? c->to : NULL, at_root ? c->n : -3,
         at_root ? c->receives : MPI_DATATYPE_NULL, c->root, c->comm);
  case scatter:
    CALL(Scatter, Iscatter, at_root ? c->from : NULL, at_root ? c->n : -3, at_root ? c->sends : MPI_DATATYPE_NULL, to,
         c->n, c->receives, c->root, c->comm);
  case allgather:
    CALL(Allgather, Iallgather, from, c->in_place ? 0 : c->n, c->in_place ? MPI_DATATYPE_NULL : c->sends, c->to, c->n,
         c->receives, c->comm);
  case reduce_scatter_block:
    CALL(Reduce_scatter_block, Ireduce_scatter_block, from, c->to, ints, MPI_INT, c->op, c->comm);
  case reduce_scatter: CALL(Reduce_scatter, Ireduce_scatter, from, c->to, c->counts, MPI_INT, c->op, c->comm);
  case allgatherv:
    CALL(Allgatherv, Iallgatherv, from, c->in_place ? 0 : c->counts[me], c->in_place ? MPI_DATATYPE_NULL : c->sends,
         c->to, c->counts, c->displacements, c->receives, c->comm);
  default: CALL(Alltoall, Ialltoall, from, c->n, c->sends, c->to, c->n, c->receives, c->comm);
  }
}

/* --- one question, asked of both */

struct asked {
  struct call ours, theirs;
  size_t bytes;
};

/* Buffers with the same in them for both; `turn` tells one question's data from the next one's. */
static void prepare(struct asked* a, int turn) {
  int ranks;
  MPI_Comm_size(a->ours.comm, &ranks);
  const size_t ints = (size_t)(spread * a->ours.n + 2) * (size_t)ranks + 8;
  a->bytes = ints * sizeof(int);
  a->theirs = a->ours;
  struct call* both[] = {&a->ours, &a->theirs};
  for (int i = 0; i < 2; ++i) {
    both[i]->from = malloc(a->bytes), both[i]->to = malloc(a->bytes);
    for (size_t k = 0; k < ints; ++k) {
      both[i]->from[k] = (int)((k * 37 + (size_t)(rank * 1001 + turn * 7)) % 9973);
      both[i]->to[k] = (int)((k * 53 + (size_t)(rank * 517 + turn)) % 9967);
    }
  }
}

static void compare(struct asked* a, const char* how) {
  int me;
  MPI_Comm_rank(a->ours.comm, &me);
  const int undefined = a->ours.kind == exscan && me == 0 && !a->ours.in_place;
  const int right = undefined || memcmp(a->ours.to, a->theirs.to, a->bytes) == 0;
  const int kept = memcmp(a->ours.from, a->theirs.from, a->bytes) == 0;
  if ((!right || !kept) && failures++ < 5)
    fprintf(stderr, "rank %d: %s %s: n %d, root %d, %s: %s\n", rank, how, names[a->ours.kind], a->ours.n, a->ours.root,
            a->ours.in_place ? "in place" : "not in place", right ? "its input was changed" : "other bytes");
  free(a->ours.from), free(a->ours.to), free(a->theirs.from), free(a->theirs.to);
}

static void ask(struct call c, int begun) {
  static int turn;
  struct asked a = {c};
  prepare(&a, ++turn);
  int code = make(&a.ours, 0, begun);
  if (begun && turn % 3 == 0) { /* a blocking one behind it */
    int in = 1, out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, c.comm);
  }
  if (begun) MPI_Wait(&a.ours.request, MPI_STATUS_IGNORE);
  code |= make(&a.theirs, 1, 0);
  if (code != MPI_SUCCESS && failures++ < 5) fprintf(stderr, "rank %d: %s: an error\n", rank, names[c.kind]);
  compare(&a, begun ? "begun" : "blocking");
}

/* --- the questions */

static const int lengths[] = {1, 3, 200, 5000, 0};

static struct call question(enum kind kind, int n, int root, MPI_Comm comm) {
  struct call c = {kind, n, root, 0, pair, pair, MPI_SUM, comm, NULL, NULL, NULL, NULL, MPI_REQUEST_NULL};
  return c;
}

static void of_all_kinds(MPI_Comm comm, int begun, int most) {
  int ranks;
  MPI_Comm_size(comm, &ranks);
  int counts[64];
  for (enum kind k = 0; k < kinds; ++k)
    for (int l = 0; l < most; ++l)
      for (int way = 0; way < 4; ++way) {
        struct call c = question(k, lengths[l], (l + way) % ranks, comm);
        c.in_place = way == 1;
        c.op = way == 2 ? MPI_BXOR : MPI_SUM;
        for (int i = 0; i < ranks; ++i) counts[i] = 2 * c.n;
        c.counts = counts;
        if (way >= 2 && (rank + way) % 2) c.sends = spread_pair;
        if (way >= 2 && (rank + l) % 2) c.receives = spread_pair;
        if (k == barrier && (way || l)) continue;
        if (k == bcast && way == 1) continue;
        ask(c, begun);
        if (c.in_place && !reduces(k) && k != bcast) { /* and spread */
          c.sends = c.receives = spread_pair;
          ask(c, begun);
        }
      }
}

/* Several kinds under way at the same time, waited for in another order. */
static void at_the_same_time(MPI_Comm comm) {
  int ranks;
  MPI_Comm_size(comm, &ranks);
  struct asked all[kinds];
  MPI_Request requests[kinds];
  int counts[64];
  for (int i = 0; i < ranks; ++i) counts[i] = 1400;
  for (int turn = 0; turn < 3; ++turn) {
    for (int k = 0; k < kinds; ++k) {
      all[k].ours = question((enum kind)k, 700, turn % ranks, comm);
      all[k].ours.counts = counts;
      if (turn == 2) all[k].ours.receives = spread_pair;
      prepare(&all[k], 100 + turn);
    }
    for (int k = 0; k < kinds; ++k) make(&all[k].ours, 0, 1);
    for (int k = 0; k < kinds; ++k) requests[k] = all[kinds - 1 - k].ours.request;
    if (turn == 1)
      for (int k = 0; k < kinds; ++k) MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    else
      MPI_Waitall(kinds, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < kinds; ++k) make(&all[k].theirs, 1, 0), compare(&all[k], "beside others");
  }
}

/* --- what stays with the library */

/* Of pairs of ints: matrices of two by two with 1, a, 0, b in them, modulo a prime; they do not commute. */
static void product(void* left, void* right, int* n, MPI_Datatype* type) {
  (void)type;
  int *l = left, *r = right;
  for (int i = 0; i + 1 < *n; i += 2) {
    const long a = (r[i] + (long)l[i] * r[i + 1]) % 9973, b = (long)l[i + 1] * r[i + 1] % 9973;
    r[i] = (int)a, r[i + 1] = (int)b;
  }
}

static void by_an_operation_of_our_own(MPI_Comm comm) {
  int ranks;
  MPI_Op op;
  MPI_Comm_size(comm, &ranks);
  MPI_Op_create(product, 0, &op);
  int counts[64];
  for (int i = 0; i < ranks; ++i) counts[i] = 4;
  for (enum kind k = 0; k < kinds; ++k)
    if (reduces(k)) {
      struct call c = question(k, 2, 0, comm);
      c.op = op, c.counts = counts;
      ask(c, 0);
    }
  MPI_Op_free(&op);
}

static void of_blocks_that_differ(MPI_Comm comm, int begun) {
  int ranks, counts[64], displacements[64];
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; ++i) counts[i] = i == 0 ? 0 : 2 + 30 * i;
  struct call c = question(reduce_scatter, 2 + 15 * ranks, 0, comm);
  c.counts = counts;
  for (c.in_place = 0; c.in_place < 2; ++c.in_place) ask(c, begun);
  for (int way = 0; way < 8; ++way) { /* one behind the other, and backwards with holes between them */
    struct call v = question(allgatherv, 8 + 300 * ranks, 0, comm);
    v.counts = counts, v.displacements = displacements;
    int at = way % 4 == 1 ? 3 : 0;
    for (int i = 0; i < ranks; ++i) counts[i] = way == 7 ? 0 : way == 6 ? 5 : 7 + 100 * i * (i + way / 4);
    for (int i = 0; i < ranks; ++i) displacements[i] = at, at += counts[i];
    if (way == 2 || way == 6)
      for (int i = ranks - 1, back = 1; i >= 0; --i) displacements[i] = back, back += counts[i] + 1;
    v.in_place = way % 4 == 1 || way == 6;
    if (way >= 3 && rank % 2) v.sends = spread_pair;
    if (way >= 4 && rank % 2 == 0) v.receives = spread_pair;
    ask(v, begun);
  }
}

static void between_two_groups(void) {
  int ranks, others;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) return;
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &between);
  MPI_Comm_remote_size(between, &others);
  int in[64], out[64];
  for (int i = 0; i < 64; ++i) in[i] = rank, out[i] = -1;
  MPI_Barrier(between);
  MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, between);
  int right = 1;
  for (int i = 0; i < others; ++i) right &= out[i] == 2 * i + 1 - rank % 2;
  MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, between);
  for (int i = 0; i < others; ++i) right &= out[i] == 2 * i + 1 - rank % 2;
  if (!right && failures++ < 5) fprintf(stderr, "rank %d: between two groups\n", rank);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/* The processes' own, unlike MPI_Wtime's, begin at the same time. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Nobody leaves a barrier before the last has come. */
static void barriers_hold(MPI_Comm comm) {
  int ranks, me;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &me);
  for (int late = 0; late < ranks; ++late)
    for (int begun = 0; begun < 2; ++begun) {
      MPI_Request request;
      const double start = now();
      double came = start;
      if (me == late)
        while ((came = now()) < start + 0.002) {
        }
      if (begun)
        MPI_Ibarrier(comm, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
      else
        MPI_Barrier(comm);
      const double left = now();
      double last;
      LIBRARY(Allreduce, &came, &last, 1, MPI_DOUBLE, MPI_MAX, comm);
      if (left < last && failures++ < 5) fprintf(stderr, "rank %d left a barrier before rank %d came\n", me, late);
    }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  make_types();
  of_all_kinds(MPI_COMM_WORLD, 0, 5);
  of_all_kinds(MPI_COMM_WORLD, 1, 5);
  at_the_same_time(MPI_COMM_WORLD);
  by_an_operation_of_our_own(MPI_COMM_WORLD);
  for (int begun = 0; begun < 2; ++begun) of_blocks_that_differ(MPI_COMM_WORLD, begun);
  between_two_groups();
  barriers_hold(MPI_COMM_WORLD);
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, -rank, &part); /* backwards, and rank 0 by itself */
  of_all_kinds(part, 0, 3);
  of_all_kinds(part, 1, 3);
  MPI_Comm_free(&part);
  MPI_Type_free(&pair);
  MPI_Type_free(&spread_pair);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("%s: %d failures\n", all == 0 ? "good" : "bad", all);
  return all < 100 ? all : 100;
}
