/* A region of fixed work, with asserts in the code. Arguments: the work of a passage, passages, the asserts. */
#include <kumihimo.h>
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long work = argc > 1 ? atol(argv[1]) : 1000, passages = argc > 2 ? atol(argv[2]) : 100;
  double value = 1.0;
  for (long p = 0; p < passages; ++p) {
    kumihimo_begin("work", argc > 3 ? argv[3] : NULL); /* the line of regions.c that reports name */
    for (long i = 0; i < work; ++i) value = value * 0.999 + 0.001;
    kumihimo_end("work");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return value < 0;
}
