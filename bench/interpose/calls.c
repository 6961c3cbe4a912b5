/* How long calls of MPI take in a program that knows nothing of us: run alone and with objects of ours before the MPI
 * library, by compare.py. Rank 0 prints a line of JSON for each call; a time is the median over batches of the largest
 * over ranks.
 *
 *   calls init       MPI_Init, and the memory of a process after it
 *   calls handed_on  calls that cost next to nothing, on this process alone: what is added to a call shows
 *   calls sweep      allreduce, reduce and bcast of 8 B to 16 MiB
 *   calls rate       small messages and sums, computing between them: 10^4 calls a second a rank */
#define _GNU_SOURCE
#include "../stay_on_processor.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { batches = 15 };
static int rank, ranks;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static double resident_bytes(void) {
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) exit(1);
  fclose(file);
  return resident * 4096.0;
}

static void tell(const char* call, long bytes, double seconds) {
  if (rank == 0)
    printf("{\"call\": \"%s\", \"bytes\": %ld, \"seconds\": %.9g}\n", call, bytes, seconds), fflush(stdout);
}

/* What is measured: one call with its buffers ready. */
typedef void (*body)(void);
static char *in, *out;
static int count;
static MPI_Request null_request = MPI_REQUEST_NULL;

static void allreduce(void) { MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD); }
static void bcast(void) { MPI_Bcast(in, count, MPI_FLOAT, 0, MPI_COMM_WORLD); }
static void allreduce_alone(void) { MPI_Allreduce(in, out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_SELF); }
static void bcast_of_nothing(void) { MPI_Bcast(in, 0, MPI_FLOAT, 0, MPI_COMM_SELF); }
static void barrier_alone(void) { MPI_Barrier(MPI_COMM_SELF); }
static void gather_alone(void) { MPI_Gather(in, 1, MPI_FLOAT, out, 1, MPI_FLOAT, 0, MPI_COMM_SELF); }
static void wait_for_nothing(void) { MPI_Wait(&null_request, MPI_STATUS_IGNORE); }
static void test_of_nothing(void) {
  int done;
  MPI_Test(&null_request, &done, MPI_STATUS_IGNORE);
}
static void send_to_nobody(void) { MPI_Send(in, 1, MPI_FLOAT, MPI_PROC_NULL, 0, MPI_COMM_SELF); }

static double batch(body call, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  for (int i = 0; i < calls; ++i) call();
  double mine = (now() - begin) / calls, most = mine;
  PMPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

static void measure(const char* name, long bytes, body call, double batch_seconds) {
  double seconds[batches];
  for (int i = 0; i < 3; ++i) call(); /* what a first call makes is not measured */
  const double one = batch(call, 10);
  int calls = (int)(batch_seconds / one) + 1;
  PMPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int b = 0; b < batches; ++b) seconds[b] = batch(call, calls);
  qsort(seconds, batches, sizeof *seconds, ascending);
  tell(name, bytes, seconds[batches / 2]);
}

static void sweep(void) {
  for (long bytes = 8; bytes <= 16 << 20; bytes *= 2) {
    count = (int)(bytes / 4);
    memset(in, 0, bytes);
    const double each = bytes <= 1 << 20 ? 2e-3 : 6e-3;
    measure("allreduce", bytes, allreduce, each);
    measure("reduce", bytes, reduce, each);
    measure("bcast", bytes, bcast, each);
  }
}

/* Half a second of a program that computes for a little less than 100 us between its calls. */
static void rate(void) {
  volatile double sum = 0;
  const int other = rank ^ 1;
  double seconds[5];
  for (int turn = 0; turn < 5; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now();
    for (int i = 0; i < 2500; ++i) {
      for (int k = 0; k < 140000; ++k) sum += k;
      if (other < ranks)
        MPI_Sendrecv(in, 8, MPI_BYTE, other, 0, out, 8, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (i % 10 == 0) MPI_Allreduce(in, out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    seconds[turn] = now() - begin;
  }
  qsort(seconds, 5, sizeof *seconds, ascending);
  tell("program", 2750, seconds[2]);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "sweep";
  const double begin = now();
  MPI_Init(&argc, &argv);
  double mine = now() - begin, init = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  PMPI_Allreduce(&mine, &init, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  stay_on_processor(rank);
  in = calloc(1, 16 << 20), out = calloc(1, 16 << 20);
  if (strcmp(what, "init") == 0) {
    tell("MPI_Init", 0, init);
    if (rank == 0) printf("{\"call\": \"memory\", \"bytes\": %.0f, \"seconds\": 0}\n", resident_bytes());
  } else if (strcmp(what, "handed_on") == 0) {
    measure("MPI_Allreduce of one rank", 4, allreduce_alone, 2e-3);
    measure("MPI_Bcast of nothing", 0, bcast_of_nothing, 2e-3);
    measure("MPI_Barrier of one rank", 0, barrier_alone, 2e-3);
    measure("MPI_Gather of one rank", 4, gather_alone, 2e-3);
    measure("MPI_Wait for nothing", 0, wait_for_nothing, 2e-3);
    measure("MPI_Test of nothing", 0, test_of_nothing, 2e-3);
    measure("MPI_Send to nobody", 4, send_to_nobody, 2e-3);
  } else if (strcmp(what, "rate") == 0) {
    rate();
  } else {
    sweep();
  }
  MPI_Finalize();
  return 0;
}
