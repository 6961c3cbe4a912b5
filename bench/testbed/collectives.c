/* Times of one collective at several sizes, as an MPI program has them.
 *
 *     collectives NAME CALLS LIMIT BYTES...
 *
 * BYTES are of the whole vector: what is summed or sent to all, or the blocks of all ranks together. Prints a line
 * `BYTES SECONDS` for each call, of its slowest rank; the first call of a size, which opens connections, is left out.
 * Once a call takes LIMIT seconds, longer vectors are left out. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ranks, rank;
static double *in, *out;

static void call(const char* name, int count) {
  const int block = count / ranks > 0 ? count / ranks : 1;
  if (!strcmp(name, "allreduce"))
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else if (!strcmp(name, "bcast"))
    MPI_Bcast(in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  else if (!strcmp(name, "reduce"))
    MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  else if (!strcmp(name, "allgather"))
    MPI_Allgather(in, block, MPI_DOUBLE, out, block, MPI_DOUBLE, MPI_COMM_WORLD);
  else if (!strcmp(name, "reduce_scatter"))
    MPI_Reduce_scatter_block(in, out, block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else if (!strcmp(name, "alltoall"))
    MPI_Alltoall(in, block, MPI_DOUBLE, out, block, MPI_DOUBLE, MPI_COMM_WORLD);
  else
    MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int calls = atoi(argv[2]);
  const double limit = atof(argv[3]);
  double slowest = 0;
  for (int i = 4; i < argc && slowest < limit; ++i) {
    const long bytes = atol(argv[i]);
    const int count = (int)(bytes / 8 > 0 ? bytes / 8 : 1);
    in = calloc((size_t)count + (size_t)ranks, 8);
    out = calloc((size_t)count + (size_t)ranks, 8);
    for (int c = 0; c <= calls; ++c) {
      MPI_Barrier(MPI_COMM_WORLD);
      double seconds = -MPI_Wtime();
      call(argv[1], count);
      seconds += MPI_Wtime();
      PMPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (rank == 0 && c > 0) printf("%ld %.6f\n", bytes, slowest), fflush(stdout);
      if (c > 0 && slowest >= limit) break;
    }
    free(in);
    free(out);
  }
  MPI_Finalize();
  return 0;
}
