/* Calls for which nothing is ready. "begun": non-blocking calls before any blocking one on MPI_COMM_WORLD and its
 * duplicates. "copies": the same on communicators made before them all. "unused": blocking calls on a duplicate made
 * after several unused ones. "lengths": new lengths in every call, blocking and non-blocking. The exit status is the
 * number of failures. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 3000, at_once = 40 };
static int rank, ranks, failures;
static int in[most], out[most];

static void expect(int right, const char* what, int n) {
  if (right) return;
  if (failures++ < 5) fprintf(stderr, "rank %d of %d: %s %d\n", rank, ranks, what, n);
}

static void begun(void) {
  MPI_Request requests[at_once];
  int sums[at_once];
  for (int i = 0; i < 50; ++i) MPI_Ibarrier(MPI_COMM_WORLD, requests), MPI_Wait(requests, MPI_STATUS_IGNORE);
  for (int turn = 0; turn < 20; ++turn) {
    MPI_Comm comm;
    if (turn % 2 == 0)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
      MPI_Comm_split(MPI_COMM_WORLD, rank == 0 && turn % 3 == 0 ? MPI_UNDEFINED : 0, -rank, &comm);
    if (comm == MPI_COMM_NULL) continue;
    int members;
    MPI_Comm_size(comm, &members);
    const int one = 1;
    for (int i = 0; i < at_once; ++i) MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
    MPI_Waitall(at_once, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < at_once; ++i) expect(sums[i] == members, "a sum on communicator", turn);
    MPI_Comm_free(&comm);
  }
}

/* As libraries do: a communicator of their own first, and nothing but non-blocking calls on it. */
static void copies(void) {
  MPI_Comm copy, part;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &part);
  for (int i = 0; i < 20; ++i) {
    MPI_Request requests[2];
    int sums[2] = {-1, -1}, mine = rank + i;
    MPI_Iallreduce(&mine, &sums[0], 1, MPI_INT, MPI_SUM, copy, &requests[0]);
    MPI_Iallreduce(&mine, &sums[1], 1, MPI_INT, MPI_SUM, part, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 2; ++k) expect(sums[k] == ranks * (ranks - 1) / 2 + ranks * i, "a sum on a copy, turn", i);
  }
  MPI_Comm_free(&copy), MPI_Comm_free(&part);
}

static void unused(void) {
  MPI_Comm idle[6], copy;
  for (int i = 0; i < 6; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &idle[i]);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int i = 0; i < 20; ++i) {
    int sum = -1, mine = rank + i;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy);
    expect(sum == ranks * (ranks - 1) / 2 + ranks * i, "a sum beside idle communicators, turn", i);
  }
  MPI_Comm_free(&copy);
  for (int i = 0; i < 6; ++i) MPI_Comm_free(&idle[i]);
}

static void lengths(void) {
  srand(7);
  MPI_Request requests[8];
  static int sums[8][most];
  for (int i = 0; i < 1200; ++i) {
    const int n = 1 + rand() % most, root = rand() % ranks;
    for (int k = 0; k < n; ++k) in[k] = rank + i + k;
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(out[n - 1] == ranks * (ranks - 1) / 2 + ranks * (i + n - 1), "a sum of length", n);
    if (rank == root) out[n - 1] = n + i;
    MPI_Bcast(out, n, MPI_INT, root, MPI_COMM_WORLD);
    expect(out[n - 1] == n + i, "a broadcast of length", n);
    if (i % 4) continue;
    for (int k = 0; k < 8; ++k)
      MPI_Iallreduce(in, sums[k], n - k > 0 ? n - k : 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 8; ++k)
      expect(sums[k][0] == ranks * (ranks - 1) / 2 + ranks * i, "a sum that was begun, of length", n - k);
  }
}

int main(int argc, char** argv) {
  alarm(120);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(argv[1], "begun") == 0) begun();
  if (strcmp(argv[1], "copies") == 0) copies();
  if (strcmp(argv[1], "unused") == 0) unused();
  if (strcmp(argv[1], "lengths") == 0) lengths();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all < 100 ? all : 100;
}
