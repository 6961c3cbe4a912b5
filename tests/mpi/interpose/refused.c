/* Calls that the library refuses, made by one rank alone or by all. We refuse the same ones, and no rank waits. The
 * library's own functions tell which it refuses. The exit status is the number of failed checks, at most 100. */
#include "library_functions.h"

#include <stdio.h>

static int rank, ranks, failures;
enum { n = 4 };
static int in[n] = {1, 2, 3, 4}, out[n], all[64 * n];

static void expect(int right, const char* what) {
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

/* What the root alone may see to be wrong: a block that is sent lies where it belongs. It is told at once, whether the
 * others make the call or not. */
static int with_one_buffer(int kind, int* data, int* other, int count, int begun, MPI_Comm comm) {
  MPI_Request request;
  int code;
  if (kind == 0)
    code = begun ? MPI_Ireduce(data, other, count, MPI_INT, MPI_SUM, 0, comm, &request)
                 : MPI_Reduce(data, other, count, MPI_INT, MPI_SUM, 0, comm);
  else if (kind == 1)
    code = begun ? MPI_Igather(data, count, MPI_INT, other, count, MPI_INT, 0, comm, &request)
                 : MPI_Gather(data, count, MPI_INT, other, count, MPI_INT, 0, comm);
  else
    code = begun ? MPI_Iscatter(data, count, MPI_INT, other, count, MPI_INT, 0, comm, &request)
                 : MPI_Scatter(data, count, MPI_INT, other, count, MPI_INT, 0, comm);
  if (begun && code == MPI_SUCCESS) MPI_Wait(&request, MPI_STATUS_IGNORE);
  return code;
}

static int is_refused_by_library(int kind, int count) {
  int data[n] = {0};
  MPI_Comm alone;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
  MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
  const int code = kind == 0   ? LIBRARY(Reduce, data, data, count, MPI_INT, MPI_SUM, 0, alone)
                   : kind == 1 ? LIBRARY(Gather, data, count, MPI_INT, data, count, MPI_INT, 0, alone)
                               : LIBRARY(Scatter, data, count, MPI_INT, data, count, MPI_INT, 0, alone);
  MPI_Comm_free(&alone);
  return code != MPI_SUCCESS;
}

static void at_the_root(MPI_Comm comm) {
  static const char* const names[] = {"a reduction", "a gather", "a scatter"};
  for (int kind = 0; kind < 3; ++kind)
    for (int count = 1; count <= n; count += n - 1)
      for (int begun = 0; begun < 2; ++begun) {
        int data[64 * n], other[64 * n];
        for (int i = 0; i < 64 * n; ++i) data[i] = 100 * rank + i, other[i] = -1;
        const int refused = is_refused_by_library(kind, count);
        if (!refused) { /* then it is right in its own place */
          const int code = with_one_buffer(kind, data, rank == 0 ? data : other, count, begun, comm);
          expect(code == MPI_SUCCESS, names[kind]);
          continue;
        }
        if (rank == 0) expect(with_one_buffer(kind, data, data, count, begun, comm) != MPI_SUCCESS, names[kind]);
        if (count == 1) MPI_Barrier(comm); /* else the others are in the call before the root makes it rightly */
        expect(with_one_buffer(kind, data, other, count, begun, comm) == MPI_SUCCESS, names[kind]);
        int right = 1;
        if (kind == 0 && rank == 0) right = other[0] == 100 * ranks * (ranks - 1) / 2;
        if (kind == 1 && rank == 0)
          for (int r = 0; r < ranks; ++r) right &= other[r * count] == 100 * r;
        if (kind == 2) right = other[0] == rank * count;
        expect(right, names[kind]);
      }
}

/* A type that was not committed, which the library tells of by the handler of the communicator. */
static int told, code_told;
static void tell(MPI_Comm* comm, int* code, ...) { (void)comm, ++told, code_told = *code; }

static void of_no_ready_type(MPI_Comm comm) {
  MPI_Datatype type;
  MPI_Errhandler handler, before;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Comm_create_errhandler(tell, &handler);
  MPI_Comm_get_errhandler(comm, &before);
  MPI_Comm_set_errhandler(comm, handler);
  if (rank == 0)
    for (int way = 0; way < 4; ++way) {
      told = code_told = 0;
      const int code = way == 0   ? MPI_Bcast(in, 1, type, 0, comm)
                       : way == 1 ? MPI_Allgather(in, 1, type, all, 2, MPI_INT, comm)
                       : way == 2 ? MPI_Alltoall(all, 2, MPI_INT, all + 32 * n, 1, type, comm)
                                  : MPI_Ibcast(in, 1, type, 0, comm, &request);
      int class = 0, class_told = 0;
      MPI_Error_class(code, &class);
      MPI_Error_class(code_told, &class_told);
      expect(class == MPI_ERR_TYPE && told == 1 && class_told == MPI_ERR_TYPE, "a type that was not committed");
    }
  MPI_Comm_set_errhandler(comm, before);
  MPI_Errhandler_free(&handler);
  if (before != MPI_ERRORS_RETURN) MPI_Errhandler_free(&before);
  MPI_Type_free(&type);
  MPI_Barrier(comm);
}

static void by_all(MPI_Comm comm) {
  for (int count = 1; count <= n; count += n - 1) {
    const int refused = LIBRARY(Allreduce, in, in, count, MPI_INT, MPI_SUM, comm) != 0;
    expect((MPI_Allreduce(in, in, count, MPI_INT, MPI_SUM, comm) != 0) == refused, "a sum to its own buffer");
  }
  at_the_root(comm);
  of_no_ready_type(comm);
  /* What is sent lies where it belongs: each kind has its own place for it. */
  for (int count = 1; count <= n; count += n - 1) {
#define SAME(what, name, ...) expect((MPI_##name(__VA_ARGS__) != 0) == (LIBRARY(name, __VA_ARGS__) != 0), what)
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

int main(int argc, char** argv) {
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
