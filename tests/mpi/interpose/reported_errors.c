/* A non-blocking collective that fails on one rank, completed in every way. Its communicator's error handler is
 * called once, whoever completes the call gets an error, and the default handler of MPI_COMM_WORLD, which ends
 * programs, is not called. The exit status is the number of failed checks. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { right = 100, ways = 8 };
static int rank, failures, told;
static void tell(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code, ++told; }

static void expect(int holds, const char* what, int way) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "rank %d, way %d: %s\n", rank, way, what);
}

static int ended_by(int way, MPI_Request* request) {
  MPI_Request two[2] = {MPI_REQUEST_NULL, *request};
  MPI_Status status, statuses[2];
  int code = MPI_SUCCESS, done = 0, index, indices[2];
  *request = MPI_REQUEST_NULL;
  switch (way) {
  case 0: return MPI_Wait(&two[1], &status);
  case 1: return MPI_Waitall(2, two, statuses);
  case 2: return MPI_Waitany(2, two, &index, &status);
  case 3: return MPI_Waitsome(2, two, &done, indices, statuses);
  case 4:
    while (!done && code == MPI_SUCCESS) code = MPI_Test(&two[1], &done, &status);
    return code;
  case 5:
    while (!done && code == MPI_SUCCESS) code = MPI_Testall(2, two, &done, statuses);
    return code;
  case 6:
    while (!done && code == MPI_SUCCESS) code = MPI_Testany(2, two, &index, &done, &status);
    return code;
  default:
    while (!done && code == MPI_SUCCESS) code = MPI_Testsome(2, two, &done, indices, statuses);
    return code;
  }
}

/* Rank 1 expects half of what rank 0 sends. */
static void fails(MPI_Comm comm, int way, int handlers_calls) {
  static char data[right];
  MPI_Request request;
  told = 0;
  const int begun = MPI_Ibcast(data, rank == 0 ? right : right / 2, MPI_CHAR, 0, comm, &request);
  const int ended = begun == MPI_SUCCESS ? ended_by(way, &request) : begun;
  expect((ended != MPI_SUCCESS) == (rank == 1), "an error where there is one", way);
  expect(told == (rank == 1 ? handlers_calls : 0), "calls of the communicator's handler", way);
}

static MPI_Comm fresh(MPI_Errhandler handler) {
  MPI_Comm comm;
  int one = 1, sum = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return comm;
}

int main(int argc, char** argv) {
  MPI_Errhandler handler, before, after;
  MPI_Init(&argc, &argv);
  alarm(60);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_errhandler(tell, &handler);
  MPI_Comm last = fresh(MPI_ERRORS_RETURN);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  for (int way = 0; way < ways; ++way)
    for (int counted = 0; counted < 2; ++counted) {
      MPI_Comm comm = fresh(counted ? handler : MPI_ERRORS_RETURN);
      fails(comm, way, counted);
      MPI_Comm_free(&comm);
      MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
      expect(before == after, "the handler of MPI_COMM_WORLD is another one", way);
    }
  /* The same handler hears of both. */
  int one = 1, sum = 0, all = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  fails(MPI_COMM_WORLD, 0, 1);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, last);
  MPI_Finalize();
  return all < 100 ? all : 100;
}
