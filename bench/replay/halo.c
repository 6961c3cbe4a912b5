// A Jacobi iteration on a square grid, cut into rows of ranks: each step exchanges the rows at both ends, sweeps the
// grid, and sums the change over all ranks.
//
//     mpirun -n 2 ./halo ROWS_OF_A_RANK COLUMNS STEPS SUMMED
//
// SUMMED: doubles that the sum has (1, or a vector, which makes the program one of allreduces). Rank 0 prints the
// seconds of the steps, from one barrier to another.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double* field(long rows, long columns, double value) {
  double* made = malloc(sizeof(double) * (size_t)(rows + 2) * (size_t)columns);
  if (!made) MPI_Abort(MPI_COMM_WORLD, 1);
  for (long i = 0; i < (rows + 2) * columns; ++i) made[i] = value;
  return made;
}

static double sweep(const double* from, double* to, long rows, long columns) {
  double change = 0;
  for (long i = 1; i <= rows; ++i)
    for (long j = 1; j < columns - 1; ++j) {
      const double* at = from + i * columns + j;
      const double next = 0.25 * (at[-1] + at[1] + at[-columns] + at[columns]);
      change += (next - *at) * (next - *at);
      to[i * columns + j] = next;
    }
  return change;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
  const long rows = atol(argv[1]), columns = atol(argv[2]), steps = atol(argv[3]), summed = atol(argv[4]);
  const int above = rank == 0 ? MPI_PROC_NULL : rank - 1, below = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;
  double *from = field(rows, columns, rank), *to = field(rows, columns, rank);
  double *mine = field(1, summed, 1), *all = field(1, summed, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (long step = 0; step < steps; ++step) {
    MPI_Request requests[4];
    MPI_Irecv(from, (int)columns, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from + (rows + 1) * columns, (int)columns, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(from + columns, (int)columns, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(from + rows * columns, (int)columns, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    mine[0] = sweep(from, to, rows, columns);
    MPI_Allreduce(mine, all, (int)summed, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double* const swapped = from;
    from = to, to = swapped;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("seconds %.9f change %g\n", MPI_Wtime() - start, all[0]);
  MPI_Finalize();
  return 0;
}
