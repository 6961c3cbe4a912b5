/* As many communicators as are set up at once and some more, all alive, each with several sums; every second one has
 * its ranks in another order. The program prints the memory of a rank, to be compared with a run without our object.
 * Arguments: doubles of the longest sum [512], number of communicators [70]. The exit status is 1 if a sum is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { times = 3 };

static long resident_kibibytes(void) {
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) abort();
  fclose(file);
  return resident * 4;
}

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  const int length = argc > 1 ? atoi(argv[1]) : 512, at_once = argc > 2 ? atoi(argv[2]) : 70;
  double *in = calloc(length, sizeof *in), *out = calloc(length, sizeof *out);
  MPI_Comm* comms = calloc(at_once, sizeof *comms);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < at_once; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &comms[i]);
    for (int call = 0; call < 4 * times; ++call) {
      const int count = length >> 3 * (call % 4);
      for (int k = 0; k < count; ++k) in[k] = k + i;
      MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comms[i]);
      for (int k = 0; k < count; ++k) wrong |= out[k] != (double)ranks * (k + i);
    }
  }
  const long resident = resident_kibibytes();
  for (int i = 0; i < at_once; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  printf("rank %d: %s, %ld KiB at its end\n", rank, wrong ? "wrong" : "right", resident);
  return wrong;
}
