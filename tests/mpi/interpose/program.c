/* An ordinary program. Each check is a promise of MPI, so the program passes with the library alone as well. The exit
 * status is the number of failed checks, at most 100. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, failures;

static void expect(int right, const char* what) {
  if (right) return;
  if (failures++ < 5) fprintf(stderr, "rank %d of %d: %s\n", rank, ranks, what);
}

/* --- what is taken over */

static void allreduce_sums(MPI_Comm comm, const char* what) {
  int me, all;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  const int lengths[] = {1, 3, 1000, 65537};
  for (int l = 0; l < 4; ++l) {
    const int n = lengths[l];
    double *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    for (int i = 0; i < n; ++i) in[i] = me + i, out[i] = -1;
    expect(MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS, what);
    int right = 1;
    for (int i = 0; i < n; ++i) right &= out[i] == all * (all - 1) / 2.0 + (double)all * i;
    expect(right, what);
    free(in), free(out);
  }
}

/* One rank in place, the others not, and the other way round: MPI leaves that to each rank. */
static void in_place_on_some(void) {
  for (int turn = 0; turn < 6; ++turn) {
    int in[17], out[17];
    for (int i = 0; i < 17; ++i) in[i] = out[i] = rank * 100 + i;
    const int alone = turn % ranks == rank, mine = turn < 3 ? alone : !alone;
    MPI_Allreduce(mine ? MPI_IN_PLACE : in, out, 17, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    int right = 1;
    for (int i = 0; i < 17; ++i) right &= out[i] == (ranks - 1) * 100 + i;
    expect(right, "allreduce, in place on some ranks alone");
  }
}

static void reduces(void) {
  for (int root = 0; root < ranks; ++root)
    for (int in_place = 0; in_place < 2; ++in_place) {
      long in[33], out[33];
      for (int i = 0; i < 33; ++i) in[i] = out[i] = 1L << (i % 20) | rank;
      const void* send = in_place && rank == root ? MPI_IN_PLACE : (void*)in;
      MPI_Reduce(send, rank == root ? out : NULL, 33, MPI_LONG, MPI_BOR, root, MPI_COMM_WORLD);
      int right = 1;
      long bits = 0;
      for (int r = 0; r < ranks; ++r) bits |= r;
      for (int i = 0; rank == root && i < 33; ++i) right &= out[i] == (1L << (i % 20) | bits);
      expect(right, "reduce to every root");
    }
}

/* The root sends every second int of a matrix, the others receive them one behind the other; then the other way round.
 */
static void bcast_of_another_type(void) {
  enum { n = 5000 };
  MPI_Datatype every_second;
  MPI_Type_vector(n, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  for (int wide_root = 0; wide_root < 2; ++wide_root)
    for (int root = 0; root < ranks; ++root) {
      static int data[2 * n];
      const int wide = (rank == root) == wide_root, step = wide ? 2 : 1;
      for (int i = 0; i < 2 * n; ++i) data[i] = -7;
      for (int i = 0; rank == root && i < n; ++i) data[i * step] = i + root;
      if (wide)
        MPI_Bcast(data, 1, every_second, root, MPI_COMM_WORLD);
      else
        MPI_Bcast(data, n, MPI_INT, root, MPI_COMM_WORLD);
      int right = 1;
      for (int i = 0; i < n; ++i) right &= data[i * step] == i + root;
      for (int i = 0; wide && i < n - 1; ++i) right &= data[i * 2 + 1] == -7;
      expect(right, "bcast of one type at the root and another elsewhere");
    }
  MPI_Type_free(&every_second);
}

static void bcast_with_holes(void) {
  struct {
    double value;
    int place;
  } pairs[7];
  for (int i = 0; i < 7; ++i) pairs[i].value = rank == 0 ? i * 0.5 : -1, pairs[i].place = rank == 0 ? i : -1;
  MPI_Bcast(pairs, 7, MPI_DOUBLE_INT, 0, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < 7; ++i) right &= pairs[i].value == i * 0.5 && pairs[i].place == i;
  expect(right, "bcast of MPI_DOUBLE_INT");
  int all[1] = {rank};
  MPI_Bcast(all, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(all[0] == rank, "no data");
}

/* --- what is handed on */

static void first_not_zero(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i)
    if (((int*)in)[i] != 0) ((int*)inout)[i] = ((int*)in)[i];
}

static void operations_of_our_own(void) {
  MPI_Op op;
  MPI_Op_create(first_not_zero, 0, &op);
  int in = rank + 1, out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_INT, op, MPI_COMM_WORLD);
  expect(out == 1, "an operation that does not commute");
  MPI_Op_free(&op);
  struct {
    double value;
    int place;
  } mine = {rank == 1 ? 5 : 1, rank}, best;
  MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  expect(best.place == (ranks > 1 ? 1 : 0), "maxloc");
}

static void between_two_groups(void) {
  if (ranks < 2) return;
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &between);
  int in = 1, out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, between);
  expect(out == (rank % 2 == 0 ? ranks / 2 : (ranks + 1) / 2), "an intercommunicator");
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/* --- communicators */

static void parts_of_the_world(void) {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &part); /* in another order than the world's */
  allreduce_sums(part, "a part of the world");
  MPI_Comm_free(&part);
  expect(part == MPI_COMM_NULL, "a communicator that was freed");
  allreduce_sums(MPI_COMM_SELF, "a rank by itself");
  MPI_Comm some;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &some);
  if (some != MPI_COMM_NULL) {
    allreduce_sums(some, "all but one");
    MPI_Comm_disconnect(&some);
  }
}

static void many_communicators(int number) {
  for (int i = 0; i < number; ++i) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    int in = i, out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, copy);
    expect(out == i * ranks, "one of many communicators");
    MPI_Comm_free(&copy);
  }
}

/* --- progress: a send that cannot end before its receiver looks, which it does only after the collective */

static void a_send_before_it(void) {
  if (ranks < 2) return;
  const int n = 16 << 20;
  int* data = malloc(n * sizeof *data);
  for (int i = 0; i < n; ++i) data[i] = rank == 0 ? i : 0;
  int in = 1, out = 0;
  if (rank == 0) {
    MPI_Request request;
    MPI_Isend(data, n, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    if (rank == 1) MPI_Recv(data, n, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  expect(out == ranks && (rank != 1 || data[n - 1] == n - 1), "a send before the collective, received before it");
  free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  allreduce_sums(MPI_COMM_WORLD, "allreduce of the world");
  in_place_on_some();
  reduces();
  bcast_of_another_type();
  bcast_with_holes();
  operations_of_our_own();
  between_two_groups();
  parts_of_the_world();
  many_communicators(argc > 1 ? atoi(argv[1]) : 20);
  a_send_before_it();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("%s: %d failures\n", all == 0 ? "good" : "bad", all);
  return all < 100 ? all : 100;
}
