/* Calls that the library refuses by itself, made by one rank alone or by all: we refuse what it does, and nobody waits.
 * Whether it does is asked of the library's profiling names. Ends with the number of checks that failed, at most 100. */
#include <mpi.h>

#include <stdio.h>

static int rank, ranks, failures;
enum { n = 4 };
static int in[n] = {1, 2, 3, 4}, out[n], all[64 * n];

static void expect(int right, const char *what) {
  if (right) return;
  if (failures++ < 5) fprintf(stderr, "rank %d of %d: %s\n", rank, ranks, what);
}

static MPI_Comm fresh(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

/* On a communicator that has been used, and on one that has not. */
static void by_one_rank(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) {
    const int wrong[] = {-7, ranks, 77};
    for (int i = 0; i < 3; ++i) {
      expect(MPI_Bcast(in, n, MPI_INT, wrong[i], comm) != 0, "a broadcast from nobody");
      expect(MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, wrong[i], comm) != 0, "a reduction to nobody");
      expect(MPI_Ibcast(in, n, MPI_INT, wrong[i], comm, &request) != 0, "a broadcast from nobody, not blocking");
    }
    for (int i = 0; i < 3; ++i) {
      expect(MPI_Gather(in, 1, MPI_INT, all, 1, MPI_INT, wrong[i], comm) != 0, "a gather to nobody");
      expect(MPI_Scatter(all, 1, MPI_INT, out, 1, MPI_INT, wrong[i], comm) != 0, "a scatter from nobody");
    }
    expect(MPI_Allgather(in, 1, MPI_INT, all, -1, MPI_INT, comm) != 0, "an allgather of less than nothing");
    expect(MPI_Alltoall(in, -1, MPI_INT, all, 1, MPI_INT, comm) != 0, "an exchange of less than nothing");
    expect(MPI_Allgather(in, 1, MPI_INT, all, 1, MPI_DATATYPE_NULL, comm) != 0, "an allgather of no type");
    expect(MPI_Ialltoall(in, 1, MPI_DATATYPE_NULL, all, 1, MPI_INT, comm, &request) != 0, "an exchange of no type");
    expect(MPI_Bcast(in, -1, MPI_INT, 0, comm) != 0, "a negative count");
    expect(MPI_Bcast(in, n, MPI_DATATYPE_NULL, 0, comm) != 0, "no type");
  }
  MPI_Barrier(comm);
}

static void by_all(MPI_Comm comm) {
  for (int count = 1; count <= n; count += n - 1) {
    const int refused = PMPI_Allreduce(in, in, count, MPI_INT, MPI_SUM, comm) != 0;
    expect((MPI_Allreduce(in, in, count, MPI_INT, MPI_SUM, comm) != 0) == refused, "a sum to its own buffer");
    MPI_Comm apart = fresh(), too = fresh(); /* which are kept, with the others' messages to the root */
    const int at_root = PMPI_Reduce(in, in, count, MPI_INT, MPI_SUM, 0, apart) != 0;
    expect((MPI_Reduce(in, in, count, MPI_INT, MPI_SUM, 0, too) != 0) == at_root, "a reduction to its own buffer");
  }
  /* What is sent lies where it belongs: each kind has its own place for it. */
  for (int count = 1; count <= n; count += n - 1) {
#define SAME(what, name, ...) expect((MPI_##name(__VA_ARGS__) != 0) == (PMPI_##name(__VA_ARGS__) != 0), what)
    SAME("a scan to its own buffer", Scan, in, in, count, MPI_INT, MPI_SUM, comm);
    SAME("an exscan to its own buffer", Exscan, in, in, count, MPI_INT, MPI_SUM, comm);
    SAME("blocks to their own buffer", Reduce_scatter_block, all, all, count, MPI_INT, MPI_SUM, comm);
    SAME("an allgather from its own place", Allgather, all + rank * count, count, MPI_INT, all, count, MPI_INT, comm);
    SAME("an exchange in one buffer", Alltoall, all, count, MPI_INT, all, count, MPI_INT, comm);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  expect(MPI_Allgather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm) != 0, "an allgather to no place");
  expect(MPI_Allreduce(in, MPI_IN_PLACE, n, MPI_INT, MPI_SUM, comm) != 0, "a sum to no place");
  expect(MPI_Iallreduce(in, MPI_IN_PLACE, n, MPI_INT, MPI_SUM, comm, &request) != 0, "the same, not blocking");
#ifdef MPICH
  expect(MPI_Bcast(NULL, n, MPI_INT, 0, comm) != 0, "a broadcast of nothing");
#endif
}

/* What looks like them and is right: the same pointer where it is not looked at. */
static void right_ones(MPI_Comm comm) {
  int sums[n];
  for (int root = 0; root < ranks; ++root) {
    for (int i = 0; i < n; ++i) sums[i] = i;
    expect(MPI_Reduce(rank == root ? MPI_IN_PLACE : sums, sums, n, MPI_INT, MPI_SUM, root, comm) == 0, "in place");
    for (int i = 0; i < n; ++i) expect(rank != root || sums[i] == ranks * i, "a sum in place");
    expect(MPI_Reduce(in, rank == root ? sums : NULL, n, MPI_INT, MPI_MAX, root, comm) == 0, "no buffer");
    for (int i = 0; i < n; ++i) expect(rank != root || sums[i] >= in[i], "a maximum");
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm used = fresh();
  right_ones(used);
  by_one_rank(used);
  for (int i = 0; i < 3; ++i) {
    MPI_Comm comm = fresh();
    (i == 0 ? by_one_rank : i == 1 ? by_all : right_ones)(comm);
    MPI_Comm_free(&comm);
  }
  by_all(used);
  right_ones(used);
  MPI_Comm_free(&used);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("%s: %d failures\n", all == 0 ? "good" : "bad", all);
  return all < 100 ? all : 100;
}
