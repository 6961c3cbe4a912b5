/* An operation of the program takes a lock, while another thread makes non-blocking calls with this lock held: nobody
 * may call the operation and keep those calls from returning. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { most = 2000, turns = 300 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm other;

static void sum(void* in, void* out, int* n, MPI_Datatype* type) {
  (void)type;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < *n; ++i) ((double*)out)[i] += ((double*)in)[i];
  pthread_mutex_unlock(&lock);
}

static void* begin_and_test(void* unused) {
  double own = 1, all = 0;
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Request request;
    pthread_mutex_lock(&lock);
    MPI_Iallreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, other, &request);
    pthread_mutex_unlock(&lock);
    for (int done = 0; !done;) {
      pthread_mutex_lock(&lock);
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      pthread_mutex_unlock(&lock);
    }
  }
  return unused;
}

int main(int argc, char** argv) {
  static double own[most], all[most], begun[most];
  int provided, ranks, failures = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) abort();
  alarm(100);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Barrier(other);
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_t thread;
  pthread_create(&thread, NULL, begin_and_test, NULL);
  MPI_Op operation;
  MPI_Op_create(sum, 1, &operation);
  for (int i = 0; i < most; ++i) own[i] = i;
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Request request;
    MPI_Iallreduce(own, begun, most, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Allreduce(own, all, most, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < most; ++i) failures += all[i] != ranks * i || begun[i] != ranks * i;
  }
  pthread_join(thread, NULL);
  MPI_Comm_free(&other);
  MPI_Op_free(&operation);
  MPI_Finalize();
  return failures > 0;
}
