/* A call in which one rank alone cannot get memory. It fails on that rank and on the others, which would wait for it
 * otherwise; calls without memory succeed. The exit status is the number of failed checks, or a signal if a rank
 * waits. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
  pairs = 1 << 21,
  doubles = 1 << 22,
  spread = 3
}; /* 16 and 32 MiB; ints from one of the spread pairs to the next */
static int rank, failures;

static void expect(int right, const char* what) {
  if (right) return;
  ++failures;
  fprintf(stderr, "rank %d: %s\n", rank, what);
}

/* No large piece of memory for one rank, from now on or no longer. */
static void set_limit(int whose, int limited) {
  if (rank != whose) return;
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = limit.rlim_max;
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1) abort();
  fclose(file);
  if (limited) limit.rlim_cur = (rlim_t)pages * 4096 + (4 << 20);
  if (setrlimit(RLIMIT_AS, &limit) != 0) abort();
}

/* A communicator whose errors are counted, on which a blocking call has been made. */
static int told;
static void tell(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code, ++told; }
static MPI_Comm fresh(void) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(tell, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return comm;
}

static void packing(int* data, MPI_Datatype apart, int whose, int begun) {
  MPI_Comm comm = fresh();
  MPI_Request request = MPI_REQUEST_NULL;
  told = 0;
  set_limit(whose, 1);
  int code = begun ? MPI_Ibcast(data, pairs, apart, 0, comm, &request) : MPI_Bcast(data, pairs, apart, 0, comm);
  if (begun && code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  set_limit(whose, 0);
  expect(code != MPI_SUCCESS, begun ? "a broadcast that was begun" : "a broadcast");
  expect(told == 1, "the communicator's handler was not told once");
  MPI_Comm_free(&comm);
}

/* The first needs memory of its own. Of two that are so long the second begins when the first has ended, and has its
 * memory, as the first has that of a call before. */
static void scratch(const double* in, double* out, int known) {
  MPI_Comm comm = fresh();
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (known) MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, comm);
  memset(out, 1, sizeof *out * 2 * doubles);
  set_limit(0, 1);
  int code = MPI_SUCCESS;
  for (int i = 0; i < 2 && code == MPI_SUCCESS; ++i)
    code = MPI_Iallreduce(in, out + i * doubles, doubles, MPI_DOUBLE, MPI_SUM, comm, &requests[i]);
  const int waited = MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  set_limit(0, 0);
  const int well = code == MPI_SUCCESS && waited == MPI_SUCCESS;
  int zeros = 1;
  for (int i = 0; i < 2 * doubles; ++i) zeros &= out[i] == 0;
  expect(known ? well && zeros : !well, known ? "two sums, the one after the other" : "a sum");
  MPI_Comm_free(&comm);
}

/* Types that only say what lies there anyway are taken from there. */
static void dense(int* data) {
  MPI_Comm comm = fresh();
  MPI_Datatype types[6];
  const int lengths[2] = {1, 5}, places[2] = {0, 1};
  const MPI_Aint offsets[2] = {0, 4};
  const MPI_Datatype parts[2] = {MPI_INT, MPI_FLOAT};
  MPI_Type_contiguous(6, MPI_INT, &types[0]);
  MPI_Type_vector(3, 2, 2, MPI_INT, &types[1]);
  MPI_Type_dup(types[1], &types[2]);
  MPI_Type_indexed(2, lengths, places, MPI_INT, &types[3]);
  MPI_Type_create_struct(2, lengths, offsets, parts, &types[4]);
  MPI_Type_contiguous(1, types[4], &types[5]);
  for (int t = 0; t < 6; ++t) {
    MPI_Type_commit(&types[t]);
    memset(data, rank == 0 ? t + 1 : 0, sizeof *data * spread * pairs);
    for (int r = 0; r < 2; ++r) set_limit(r, 1);
    const int code = MPI_Bcast(data, pairs / 2, types[t], 0, comm);
    for (int r = 0; r < 2; ++r) set_limit(r, 0);
    int right = code == MPI_SUCCESS;
    for (size_t i = 0; right && i < (size_t)3 * pairs; ++i) right = data[i] == 0x01010101 * (t + 1);
    expect(right, "a type without gaps needs no memory");
  }
  for (int t = 0; t < 6; ++t) MPI_Type_free(&types[t]);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* of waits */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  mallopt(M_MMAP_THRESHOLD, 1 << 20); /* what was freed is gone, and must be asked for again */
  alarm(60);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype apart, padded;
  MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
  MPI_Type_create_resized(apart, 0, spread * sizeof(int), &padded);
  MPI_Type_commit(&padded);
  int* data = calloc((size_t)spread * pairs, sizeof *data);
  double *in = calloc(doubles, sizeof *in), *out = calloc(2 * doubles, sizeof *out);
  memset(data, 0, sizeof *data * spread * pairs), memset(out, 1, sizeof *out * 2 * doubles);
  dense(data);
  for (int whose = 0; whose < 2; ++whose)
    for (int begun = 0; begun < 2; ++begun) packing(data, padded, whose, begun);
  for (int known = 0; known < 2; ++known) scratch(in, out, known);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all < 100 ? all : 100;
}
