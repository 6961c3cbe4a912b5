/* In each call one rank uses the profiling name and the others MPI's own: collectives, communicators, MPI_Init and
 * MPI_Finalize. It is one call of MPI. With an argument the ranks also begin and end MPI by both. The exit status is 1
 * if a result is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { turns = 20 };
static int rank, ranks, wrong;

#define CALL(other, name, ...) ((other) ? PMPI_##name(__VA_ARGS__) : MPI_##name(__VA_ARGS__))

static int rank_by_launcher(void) {
  const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
  for (int i = 0; i < 2; ++i)
    if (getenv(names[i])) return atoi(getenv(names[i]));
  return 0;
}

static void sums(int other, MPI_Comm comm) {
  const double in = rank;
  double out = -1;
  MPI_Request request;
  CALL(other, Allreduce, &in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
  wrong |= out != ranks * (ranks - 1) / 2;
  out = -1;
  CALL(other, Iallreduce, &in, &out, 1, MPI_DOUBLE, MPI_SUM, comm, &request);
  CALL(!other, Wait, &request, MPI_STATUS_IGNORE);
  wrong |= out != ranks * (ranks - 1) / 2;
  CALL(other, Barrier, comm);
}

int main(int argc, char** argv) {
  const int ends_differ = argc > 1;
  CALL(ends_differ && rank_by_launcher() == 1, Init, &argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int turn = 0; turn < turns; ++turn) {
    const int other = rank == turn % ranks;
    MPI_Comm copy;
    sums(other, MPI_COMM_WORLD);
    CALL(other, Comm_dup, MPI_COMM_WORLD, &copy);
    sums(other, copy);
    CALL(!other, Comm_free, &copy);
  }
  CALL(ends_differ && rank == 0, Finalize);
  if (rank == 0) printf("%s\n", wrong ? "wrong" : "right");
  return wrong;
}
