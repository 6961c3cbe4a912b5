/* Communicators that are never freed and that ranks first used in different orders: MPI_Finalize must return all the
 * same. Some ranks have freed one before, so the library numbers the next ones differently on them. */
#include <mpi.h>

static double used(MPI_Comm communicator) {
  double one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, communicator);
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm outer, lower, again;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, rank, &outer);
  if (outer != MPI_COMM_NULL) wrong += used(outer) != 2;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 2 ? MPI_UNDEFINED : 0, rank, &lower);
  if (lower != MPI_COMM_NULL) wrong += used(lower) != 2;
  if (outer != MPI_COMM_NULL) MPI_Comm_free(&outer);
  if (lower != MPI_COMM_NULL) {
    MPI_Comm_dup(lower, &again);
    wrong += used(again) != 2;
  }
  MPI_Finalize();
  return wrong != 0;
}
