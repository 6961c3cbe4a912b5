/* One MPI_Allreduce of doubles under SimGrid's SMPI, or none if the bytes are 0: prints the simulated seconds (the
 * slowest rank's) from rank 0, or fails where an element is wrong. The values are small integers, so that every order
 * of summation is exact. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int count = argc > 1 ? atoi(argv[1]) / (int)sizeof(double) : 1;
  double* in = malloc(sizeof(double) * (size_t)count);
  double* out = malloc(sizeof(double) * (size_t)count);
  for (int i = 0; i < count; ++i) in[i] = rank + i % 7;

  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = MPI_Wtime(), slowest = 0;
  if (count) MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  seconds = MPI_Wtime() - seconds;

  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += out[i] != ranks * (ranks - 1.0) / 2 + (double)ranks * (i % 7);
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.9e\n", slowest);
  free(in);
  free(out);
  MPI_Finalize();
  return wrong ? 1 : 0;
}
