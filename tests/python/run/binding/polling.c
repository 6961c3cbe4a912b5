// Ranks with a thread of their own that polls the MPI library: ./polling SECONDS.
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int is_over;

static void* poll(void* nothing) {
  MPI_Comm own;
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  for (int is_there = 0; !is_over;) MPI_Iprobe(MPI_ANY_SOURCE, 0, own, &is_there, MPI_STATUS_IGNORE);
  MPI_Comm_free(&own);
  return nothing;
}

static double sum(void) {
  volatile double total = 0;
  for (int i = 0; i < 1000000; ++i) total = total + 1e-9 * i;
  return total;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t helper;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) fprintf(stderr, "no MPI_THREAD_MULTIPLE\n"), exit(77);
  pthread_create(&helper, NULL, poll, NULL);
  const double end = MPI_Wtime() + atof(argv[1]);
  while (MPI_Wtime() < end) sum();
  is_over = 1;
  pthread_join(helper, NULL);
  MPI_Finalize();
  return 0;
}
