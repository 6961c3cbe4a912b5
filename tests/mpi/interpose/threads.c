/* A program of several threads that all communicate (MPI_THREAD_MULTIPLE), each on its own communicators, blocking
 * and non-blocking. The exit status is the number of failed checks, at most 100. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { threads = 3, turns = 60, length = 2000 };
static int rank, ranks;
static atomic_int failures;
static MPI_Comm comms[threads];

static void* work(void* number) {
  const int me = (int)(long)number;
  static double in[threads][length], out[threads][2][length];
  for (int t = 0; t < turns; ++t) {
    const int n = 1 + (t * 37) % length;
    for (int i = 0; i < n; ++i) in[me][i] = rank + me * i;
    MPI_Request requests[2];
    MPI_Allreduce(MPI_IN_PLACE, &(int){0}, 1, MPI_INT, MPI_MAX, comms[me]);
    for (int k = 0; k < 2; ++k) MPI_Iallreduce(in[me], out[me][k], n, MPI_DOUBLE, MPI_SUM, comms[me], &requests[k]);
    if (t % 3 == 0) MPI_Barrier(comms[me]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int right = 1;
    for (int k = 0; k < 2; ++k)
      for (int i = 0; i < n; ++i) right &= out[me][k][i] == ranks * (ranks - 1) / 2.0 + (double)ranks * me * i;
    if (!right) failures++;
    int root = t % ranks, word = rank == root ? t : -1;
    MPI_Bcast(&word, 1, MPI_INT, root, comms[me]);
    if (word != t) failures++;
  }
  return NULL;
}

/* Communicators that two threads use for the first time and free, each its own, in whatever order they come to it. */
enum { brief = 40 };
static MPI_Comm brief_comms[2][brief];

static void* come_and_go(void* argument) {
  const long me = (long)argument;
  for (int i = 0; i < brief; ++i) {
    int in = 1, out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, brief_comms[me][i]);
    MPI_Bcast(&out, 1, MPI_INT, 0, brief_comms[me][i]);
    if (out != ranks) failures++;
    MPI_Comm_free(&brief_comms[me][i]);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  pthread_t ids[threads];
  for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  if (provided == MPI_THREAD_MULTIPLE) {
    for (long i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)i);
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
    for (int i = 0; i < 2 * brief; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &brief_comms[i % 2][i / 2]);
    for (long i = 0; i < 2; ++i) pthread_create(&ids[i], NULL, come_and_go, (void*)i);
    for (int i = 0; i < 2; ++i) pthread_join(ids[i], NULL);
  } else {
    for (long i = 0; i < threads; ++i) work((void*)i);
  }
  for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
  int mine = failures, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("%s: %d failures\n", all == 0 ? "good" : "bad", all);
  return all < 100 ? all : 100;
}
