/* A program that runs out of memory and goes on. "each": on one rank, at each of our allocations in turn (with
 * failing.c). "limit": at a limit of some KiB beyond its memory after MPI_Init (ulimit -v). Then each call has the
 * right result or returns an error on all ranks, and a communicator made later works. "to_end": on all ranks until
 * the end of MPI, with the default error handler. Without arguments it only calls. The exit status is the number of
 * failures. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { most = 3000, at_once = 80 };
static int rank, ranks, failures, errors;
static int is_known; /* memory runs out on a communicator that has been used, and in calls of one length on all ranks */

static void expect(int right, int code, const char* what, long at) {
  if (code != MPI_SUCCESS) return (void)++errors;
  if (!right && failures++ < 5) fprintf(stderr, "rank %d of %d: %s, at %ld\n", rank, ranks, what, at);
}

static int all_are(const int* found, int count, int value) {
  for (int i = 0; i < count; ++i)
    if (found[i] != value) return 0;
  return 1;
}

/* More than are under way at once. */
static void start_many(MPI_Comm comm, long at) {
  static int in[at_once], out[at_once];
  MPI_Request requests[at_once];
  int started = 0, code = MPI_SUCCESS;
  for (int i = 0; i < at_once && code == MPI_SUCCESS; ++i) {
    in[i] = rank + i;
    code = MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
    started += code == MPI_SUCCESS;
  }
  for (int i = 0; i < started; ++i) expect(1, MPI_Wait(&requests[i], MPI_STATUS_IGNORE), "", at);
  for (int i = 0; i < started && errors == 0; ++i)
    expect(out[i] == ranks * (ranks - 1) / 2 + ranks * i, MPI_SUCCESS, "one of many iallreduces", at);
}

/* Each kind of call that is set up in another way. */
static void call_all(MPI_Comm comm, long at) {
  static int in[most], out[most];
  for (int i = 0; i < most; ++i) in[i] = rank + 1;
  const int sum = ranks * (ranks + 1) / 2;
  for (int count = 1; count <= most; count *= 50) {
    int code = MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
    expect(all_are(out, count, sum), code, "an allreduce", at);
    MPI_Request request;
    memset(out, 0, sizeof out);
    code = MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, comm, &request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(all_are(out, count, sum), code, "an iallreduce", at);
  }
  double terms[2] = {rank + 1, -rank - 1}, sums[2] = {0, 0};
  int code = MPI_Allreduce(terms, sums, 2, MPI_DOUBLE, MPI_SUM, comm);
  expect(sums[0] == sum && sums[1] == -sum, code, "an allreduce of doubles", at);
  MPI_Request request;
  code = MPI_Iallreduce(MPI_IN_PLACE, terms, 2, MPI_DOUBLE, MPI_SUM, comm, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(terms[0] == sum && terms[1] == -sum, code, "an iallreduce of doubles", at);
  if (is_known) return start_many(comm, at);
  int counts[64], places[64];
  for (int r = 0; r < ranks; ++r) counts[r] = r + 1, places[r] = r * (r + 1) / 2;
  code = MPI_Allgatherv(in, rank + 1, MPI_INT, out, counts, places, MPI_INT, comm);
  expect(out[sum - 1] == ranks && out[0] == 1, code, "an allgatherv", at);
  for (int r = 0; r < ranks; ++r) counts[r] = 1, places[r] = r;
  code = MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
  expect(out[ranks - 1] == ranks && out[0] == 1, code, "an alltoallv", at);
}

static void each(void) {
  long (*const fail_after)(long) = (long (*)(long))dlsym(RTLD_DEFAULT, "fail_after");
  int some = 1;
  for (long at = 0; some; at += at < 200 ? 1 : 7) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (is_known) MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, comm);
    if (rank == 0 && fail_after) fail_after(at);
    call_all(comm, at);
    some = rank == 0 && fail_after && fail_after(-1) > 0;
    call_all(comm, at); /* memory has come back */
    MPI_Comm_free(&comm);
    const int before = errors;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    call_all(comm, at);
    if (errors != before && failures++ < 5)
      fprintf(stderr, "rank %d: an error on a communicator made later, at %ld\n", rank, at);
    MPI_Comm_free(&comm);
    MPI_Sendrecv_replace(&some, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (rank == 0)
      for (int r = 1; r < ranks; ++r) MPI_Send(&some, 1, MPI_INT, r, 1, MPI_COMM_WORLD);
    else
      MPI_Recv(&some, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static struct rlimit set_limit(long kib) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (fscanf(file, "%ld", &pages) != 1) failures++;
  fclose(file);
  struct rlimit was, now;
  getrlimit(RLIMIT_AS, &was);
  now = was, now.rlim_cur = (rlim_t)(pages * sysconf(_SC_PAGESIZE) + kib * 1024);
  setrlimit(RLIMIT_AS, &now);
  return was;
}

static void limit(long kib) {
  struct rlimit was;
  if (rank == 0) was = set_limit(kib);
  call_all(MPI_COMM_WORLD, kib);
  if (rank == 0) setrlimit(RLIMIT_AS, &was);
  call_all(MPI_COMM_WORLD, kib);
}

/* From an allocation of ours on, on a communicator that is set up then, with the default error handler. */
static void on_new(long at) {
  long (*const fail_after)(long) = (long (*)(long))dlsym(RTLD_DEFAULT, "fail_after");
  MPI_Comm comm;
  MPI_Allreduce(MPI_IN_PLACE, &at, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (rank == 0) fail_after(at);
  call_all(comm, at);
  if (rank == 0) fail_after(-1);
}

static void to_end(long kib) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  set_limit(kib);
  call_all(MPI_COMM_WORLD, kib);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (argc > 1 && strcmp(argv[1], "each") == 0)
    is_known = argc > 2, each();
  else if (argc > 2 && strcmp(argv[1], "new") == 0)
    on_new(atol(argv[2]));
  else if (argc > 2 && strcmp(argv[1], "to_end") == 0)
    to_end(atol(argv[2]));
  else if (argc > 2)
    limit(atol(argv[2]));
  else
    call_all(MPI_COMM_WORLD, 0);
  MPI_Finalize();
  return failures < 100 ? failures : 100;
}
