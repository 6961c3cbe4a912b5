/* A small solver with asserts, for the jobs beside it. */
#include <kumihimo.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 100000, steps = 100 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double* const u = calloc(cells, sizeof *u);
  double residual = 0;
  for (int i = 0; i < cells; ++i) u[i] = sin(i);
  for (int step = 0; step < steps; ++step) {
    kumihimo_begin("solve", "seconds <= 1; mpi <= 100 %");
    double mine = 0;
    for (int i = 1; i + 1 < cells; ++i) {
      const double next = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1]);
      mine += (next - u[i]) * (next - u[i]);
      u[i] = next;
    }
    MPI_Allreduce(&mine, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    kumihimo_end("solve");
  }
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("residual %g\n", sqrt(residual));
  free(u);
  MPI_Finalize();
  return 0;
}
