/* What MPI calls take that return at once: run alone and with the recorder by calls.py. Each rank calls functions that
 * need no other rank; allreduce and small messages go between the ranks. Rank 0 prints a line of JSON for each
 * function, in nanoseconds a call: the shortest of many short batches, because other programs may run beside it. */
#define _GNU_SOURCE
#include "../stay_on_processor.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { batches = 200 };
static int rank, ranks;
static MPI_Win window;
static double in[4], out[4];

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

static void flush(void) { MPI_Win_flush_local_all(window); }
static void put(void) { MPI_Put(in, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, window); }
static void get(void) { MPI_Get(out, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, window); }
static void accumulate(void) { MPI_Accumulate(in, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, MPI_SUM, window); }
static void probe(void) {
  int found;
  MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}
static void test(void) {
  static MPI_Request none = MPI_REQUEST_NULL;
  int done;
  MPI_Test(&none, &done, MPI_STATUS_IGNORE);
}
static void allreduce_alone(void) { MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF); }
static void allreduce(void) { MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void messages(void) {
  MPI_Request requests[2];
  MPI_Irecv(out, 1, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(in, 1, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void two_sites(void) {
  flush();
  test();
}
static void several(void) {
  get();
  flush();
  put();
  flush();
  accumulate();
  flush();
}

static void measure(const char* name, void (*body)(void), int calls_of_body) {
  const int rounds = 600 / calls_of_body;
  double shortest = 1e9;
  for (int i = 0; i < 300; ++i) body();
  for (int b = 0; b < batches; ++b) {
    PMPI_Barrier(MPI_COMM_WORLD);
    const double begin = now_ns();
    for (int i = 0; i < rounds; ++i) body();
    const double each = (now_ns() - begin) / rounds / calls_of_body;
    if (each < shortest) shortest = each;
  }
  if (rank == 0) printf("{\"call\": \"%s\", \"ns\": %.2f}\n", name, shortest), fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  stay_on_processor(rank);
  double* base;
  MPI_Win_allocate(sizeof in, sizeof *in, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  MPI_Win_lock_all(0, window);
  measure("MPI_Win_flush_local_all", flush, 1);
  measure("MPI_Put", put, 1);
  measure("MPI_Get", get, 1);
  measure("MPI_Accumulate", accumulate, 1);
  measure("get, put, accumulate, each with a flush", several, 6);
  measure("MPI_Test", test, 1);
  measure("flush and test by turns", two_sites, 2);
  measure("MPI_Iprobe", probe, 1);
  measure("MPI_Isend, MPI_Irecv, MPI_Waitall", messages, 3);
  measure("MPI_Allreduce of one rank", allreduce_alone, 1);
  measure("MPI_Allreduce", allreduce, 1);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
