/* A thousand communicators, one after another, some kept for a while: nothing grows. Ends with 1 if a sum is wrong, 2 if
 * the memory of a rank has grown by more than it may from the 300th to the last, in mebibytes as its argument says. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { number = 1000, kept = 8, settled = 300 };

static double resident_mebibytes(void) {
  long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) abort();
  fclose(file);
  return resident * 4096.0 / (1 << 20);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const double most = argc > 1 ? atof(argv[1]) : 8;
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm comms[kept];
  for (int i = 0; i < kept; ++i) comms[i] = MPI_COMM_NULL;
  double before = 0;
  for (int i = 0; i < number; ++i) {
    MPI_Comm *comm = &comms[i % kept];
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, comm);
    int in = i, out = 0, started = 0;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, *comm);
    MPI_Request request;
    MPI_Iallreduce(&in, &started, 1, MPI_INT, MPI_MAX, *comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong |= out != i * ranks || started != i;
    if (i == settled) before = resident_mebibytes();
  }
  const double grown = resident_mebibytes() - before;
  for (int i = 0; i < kept; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  printf("rank %d: %s, grown by %.1f MiB\n", rank, wrong ? "wrong" : "right", grown);
  return wrong ? 1 : grown > most ? 2 : 0;
}
