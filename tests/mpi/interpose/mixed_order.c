/* Blocking and non-blocking collectives on one communicator, in another order on each rank. MPI wants one order, but
 * libraries match each form by itself, so programs that do this run. (One emulates an agreement by MPI_Iallreduce,
 * started before a barrier here and after it there.) The exit status is the number of failed checks, or a signal if
 * ranks wait for each other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { length = 700, most = 3 };
static int rank, ranks, failures;

static void expect(int right, const char* what) {
  if (right) return;
  if (failures++ < 5) fprintf(stderr, "rank %d of %d: %s\n", rank, ranks, what);
}

/* A sum of `n` elements that is told from others by `mark`. */
struct sum {
  double in[length], out[length];
  int n, mark;
  MPI_Request request;
};
static void fill(struct sum* s, int n, int mark) {
  s->n = n, s->mark = mark;
  for (int i = 0; i < n; ++i) s->in[i] = mark * (rank + 1.0) + i, s->out[i] = -1;
}
static void begin(struct sum* s, int n, int mark, MPI_Comm comm) {
  fill(s, n, mark);
  MPI_Iallreduce(s->in, s->out, n, MPI_DOUBLE, MPI_SUM, comm, &s->request);
}
static void run(struct sum* s, int n, int mark, MPI_Comm comm) {
  fill(s, n, mark);
  MPI_Allreduce(s->in, s->out, n, MPI_DOUBLE, MPI_SUM, comm);
}
static int is_right(const struct sum* s) {
  for (int i = 0; i < s->n; ++i)
    if (s->out[i] != s->mark * (ranks * (ranks + 1) / 2.0) + (double)ranks * i) return 0;
  return 1;
}

/* With a communicator that all ranks have used. */
static MPI_Comm fresh(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  static struct sum s;
  run(&s, 1, 1, comm);
  expect(is_right(&s), "the first sum");
  return comm;
}

static void agreement(int barriers_before) {
  MPI_Comm comm = fresh();
  for (int i = 0; i < barriers_before; ++i) MPI_Barrier(comm);
  for (int root = 0; root < ranks; ++root) {
    int mine = rank == root ? 11 : 13, all = -1, done = 1;
    MPI_Request request;
    if (barriers_before > 0) MPI_Barrier(comm);
    if (rank != root) MPI_Barrier(comm);
    MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_BAND, comm, &request);
    if (rank == root) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      expect(!done, "an agreement that one rank alone has begun");
      MPI_Barrier(comm);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(all == (11 & 13), "an agreement");
  }
  MPI_Comm_free(&comm);
}

/* The same sum in both forms, which must not take each other's data: known, and new to the communicator. */
static void two_sums(void) {
  static struct sum begun, blocking;
  MPI_Comm comm = fresh();
  for (int n = 1; n <= length; n += 233)
    for (int turn = 0; turn < 3; ++turn) {
      if (rank % 2 == 0) begin(&begun, n, 1000, comm);
      run(&blocking, n, 1, comm);
      if (rank % 2 != 0) begin(&begun, n, 1000, comm);
      MPI_Wait(&begun.request, MPI_STATUS_IGNORE);
      expect(is_right(&begun) && is_right(&blocking), "a sum of each form");
    }
  MPI_Comm_free(&comm);
}

/* Several of each, begun after as many blocking ones as the rank's number. */
static void several(void) {
  static struct sum begun[most], blocking[8];
  MPI_Comm comm = fresh();
  for (int turn = 0; turn < 20; ++turn) {
    for (int i = 0; i < ranks; ++i) {
      if (i == rank)
        for (int k = 0; k < most; ++k) begin(&begun[k], 100 + k, 100 * k, comm);
      run(&blocking[i], 101, 7 * i, comm);
    }
    for (int k = most - 1; k >= 0; --k) MPI_Wait(&begun[k].request, MPI_STATUS_IGNORE);
    for (int k = 0; k < most; ++k) expect(is_right(&begun[k]), "several that were begun");
    for (int i = 0; i < ranks; ++i) expect(is_right(&blocking[i]), "several blocking ones");
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  alarm(60);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  agreement(1);
  agreement(0);
  two_sums();
  several();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all < 100 ? all : 100;
}
