/* argv[1] sums of one double, a line each by rank 0; ends with 9 if one is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  static double own[20000], sum[20000];
  int rank, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int turn = 0; turn < atoi(argv[1]); ++turn) {
    for (int i = 0; i < 20000; ++i) own[i] = rank + i + turn;
    MPI_Allreduce(own, sum, 20000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 20000; ++i) wrong |= sum[i] != ranks * (ranks - 1) / 2 + (double)ranks * (i + turn);
    if (rank == 0) printf("%d\n", turn), fflush(stdout);
  }
  if (wrong) MPI_Abort(MPI_COMM_WORLD, 9);
  MPI_Finalize();
  return 0;
}
