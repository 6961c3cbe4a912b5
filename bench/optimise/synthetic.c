/* A program whose time in collectives is known: it measures it itself, without a tool.
 *
 *   synthetic ITERATIONS WORK_US LATE_US MOST_DOUBLES COLD_KIB
 *
 * Each iteration: computation of WORK_US on all ranks, and LATE_US more on the last; COLD_KIB of memory written; an
 * allreduce and a broadcast of 1 to MOST_DOUBLES doubles, a random number that is the same on all ranks. Rank 0 prints
 * the shares of the time of all ranks that are waiting for the last to come to the allreduce, and transferring. Entry
 * times are compared on one node, where all processes read one clock. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) { /* MPI_Wtime may begin at another time in each process */
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double seconds) {
  const double end = now() + seconds;
  while (now() < end) continue;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 6) {
    fprintf(stderr, "synthetic ITERATIONS WORK_US LATE_US MOST_DOUBLES COLD_KIB\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int iterations = atoi(argv[1]), most = atoi(argv[4]);
  const double work = atof(argv[2]) * 1e-6, late = atof(argv[3]) * 1e-6;
  const size_t cold = (size_t)atol(argv[5]) << 10;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double *mine = calloc(most, sizeof *mine), *sum = calloc(most, sizeof *sum);
  double *entries = calloc(iterations, sizeof *entries), *exits = calloc(iterations, sizeof *exits);
  double* last = calloc(iterations, sizeof *last);
  char* memory = malloc(cold + 1);
  double in_bcast = 0;
  srand(1);
  const double begin = now();
  for (int i = 0; i < iterations; ++i) {
    const int count = 1 + rand() % most;
    compute(work + (rank == ranks - 1 ? late : 0));
    memset(memory, i, cold);
    entries[i] = now();
    MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    exits[i] = now();
    MPI_Bcast(sum, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    in_bcast += now() - exits[i];
  }
  double part[3] = {0, in_bcast, now() - begin}, all[3]; /* waiting, in collectives, in all */
  MPI_Allreduce(entries, last, iterations, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < iterations; ++i) {
    part[0] += last[i] - entries[i];
    part[1] += exits[i] - entries[i];
  }
  MPI_Reduce(part, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("waiting %.4f transferring %.4f seconds %.3f\n", all[0] / all[2], (all[1] - all[0]) / all[2],
           all[2] / ranks);
  MPI_Finalize();
}
