/* A program with its own MPI_Wait, like programs that are linked with a measuring tool (OWN). It calls the library's
 * profiling name and so passes the preloaded object. The exit status is 1 if a sum is wrong. */
#include <mpi.h>
#include <stdio.h>

static double waited;
#ifdef OWN
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const double begun = MPI_Wtime();
  const int code = PMPI_Wait(request, status);
  waited += MPI_Wtime() - begun;
  return code;
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 20; ++i) {
    double in = i, sum = 0, most = 0;
    MPI_Request request;
    MPI_Allreduce(&in, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(&in, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong |= sum != ranks * i || most != i;
  }
  MPI_Finalize();
  if (rank == 0) printf("%s, waited for %g s\n", wrong ? "wrong" : "right", waited);
  return wrong;
}
