/* Programs that do not end as they should: by MPI_Abort in the middle of a collective ("abort"), or without MPI_Finalize
 * while another rank waits in nothing ("leave"). */
#include <mpi.h>

#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, in = 1, out = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (argc > 1 && strcmp(argv[1], "abort") == 0) {
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    double sums[1000];
    for (;;) MPI_Allreduce(MPI_IN_PLACE, sums, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  _exit(0);
}
