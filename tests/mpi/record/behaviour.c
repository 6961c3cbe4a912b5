/* Programs that end, wait or run in other ways, by a word: late, rooted, gathered, begun, unfinished, abort, threads,
   leaving, regions. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include KUMIHIMO_HEADER

static int rank, ranks;
static double x[1000], y[1000];

static void pause_ms(long ms) {
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

/* The last rank comes late to every call. */
static void late(void) {
  MPI_Comm all, pairs;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &all);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &pairs);
  for (int i = 0; i < 10; ++i) {
    if (rank == ranks - 1) pause_ms(60);
    MPI_Allreduce(x, y, 10, MPI_DOUBLE, MPI_SUM, i < 5 ? all : pairs);
  }
  MPI_Comm_free(&all); /* the other one lives until the end */
}

/* A root that comes late is waited for; one that comes first waits for nobody. */
static void rooted(void) {
  for (int i = 0; i < 5; ++i) {
    if (rank == 0) pause_ms(60);
    MPI_Bcast(x, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
}

/* The last rank comes late: the root waits for it, and those that only hand over do not. A root that comes late may be
   waited for. A scan's waiting cannot be told by who comes last. */
static void gathered(void) {
  static double all[8 * 1000];
  for (int i = 0; i < 5; ++i) {
    if (rank == ranks - 1) pause_ms(60);
    MPI_Gather(x, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1) pause_ms(60);
    MPI_Reduce(x, y, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1) pause_ms(60);
    MPI_Gather(x, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Scan(x, y, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void* waiting(void* request) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  return NULL;
}

static MPI_Comm of_another;
static void* begin_later(void* unused) {
  MPI_Request request;
  pause_ms(20);
  MPI_Ibarrier(of_another, &request);
  pause_ms(60);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return unused;
}

/* While rank 0 waits for a message, another of its threads begins a collective. */
static void begun_during_a_wait(void) {
  int message = 7;
  pthread_t thread;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &of_another);
  pthread_create(&thread, NULL, begin_later, NULL);
  if (rank == 0) {
    MPI_Irecv(&message, 1, MPI_INT, ranks - 1, 4, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == ranks - 1) {
    pause_ms(50);
    MPI_Send(&message, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  }
  pthread_join(thread, NULL);
  MPI_Comm_free(&of_another);
}

/* Non-blocking calls. The last rank begins late; the others compute for a while and then wait. Each call is completed
   in another way: by MPI_Wait, with other requests, after its communicator was freed, by a test, by another thread. */
static void begun(int threaded) {
  static double all[8 * 1000];
  MPI_Comm other;
  MPI_Request requests[9];
  int done = 0, in = rank, out;
  for (int i = 0; i < 5; ++i) {
    if (rank == ranks - 1) pause_ms(60);
    MPI_Iallreduce(x, y, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, requests);
    pause_ms(20);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Irecv(&out, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[0]);
  if (rank == ranks - 1) pause_ms(60);
  MPI_Ibcast(x, 10, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&in, 1, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD, &requests[2]);
  for (int i = 3; i < 9; ++i) requests[i] = MPI_REQUEST_NULL; /* which nothing completes */
  MPI_Waitall(9, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Ibarrier(other, requests);
  MPI_Comm_free(&other);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  MPI_Iallgather(x, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD, requests);
  while (!done) MPI_Test(requests, &done, MPI_STATUS_IGNORE);
  if (threaded) begun_during_a_wait();
  if (rank == ranks - 1) pause_ms(60);
  MPI_Ireduce(x, y, 10, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, requests);
  pthread_t thread;
  if (threaded)
    pthread_create(&thread, NULL, waiting, requests), pthread_join(thread, NULL);
  else
    waiting(requests);
}

/* More calls than are looked at one by one: a sample of them is. */
static void many(void) {
  for (int i = 0; i < 5000; ++i) MPI_Allreduce(x, y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void* sender(void* which) {
  const int tag = (int)(long)which;
  for (int i = 0; i < 100; ++i) {
    MPI_Request request;
    int got;
    MPI_Isend(&tag, 1, MPI_INT, (rank + 1) % ranks, tag, MPI_COMM_WORLD, &request);
    MPI_Recv(&got, 1, MPI_INT, (rank + ranks - 1) % ranks, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (got != tag) abort();
  }
  return NULL;
}

/* Calls without end from more and more places, one level of them after another. */
#define TEN(what) what what what what what what what what what what
static void* without_end(void* unused) {
  int there;
  for (;;) {
    TEN(TEN(TEN(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);)))
  }
  return unused;
}

/* The process ends by itself while its threads call MPI. */
static void leaving(void) {
  pthread_t others[3];
  for (int i = 0; i < 3; ++i) pthread_create(&others[i], NULL, without_end, NULL);
  pause_ms(rank + 1);
  exit(9);
}

static void threads(void) {
  puts("threads");
  fflush(stdout);
  pthread_t others[3];
  for (long i = 0; i < 3; ++i) pthread_create(&others[i], NULL, sender, (void*)(i + 1));
  sender((void*)0);
  for (int i = 0; i < 3; ++i) pthread_join(others[i], NULL);
}

static void regions(void) {
  for (int i = 0; i < 2; ++i) {
    MPI_Pcontrol(1, "by control");
    kumihimo_begin("kept", "seconds <= 1000");
    kumihimo_begin("missed", "bytes 1e9 rate >= 1e12");
    pause_ms(5);
    MPI_Barrier(MPI_COMM_WORLD);
    kumihimo_end("missed");
    kumihimo_end("kept");
    MPI_Pcontrol(-1, "by control");
  }
  kumihimo_begin("no sense", "soon");
  kumihimo_end("no sense");
  kumihimo_end("never begun");
  MPI_Pcontrol(0); /* off: not counted, and the ranks agree all the same on which calls they compare */
  for (int i = 0; i < 300 * (1 + rank % 2); ++i) {
    if (i >= 300) break;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Pcontrol(1);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const int threaded = strcmp(what, "threads") == 0 || strcmp(what, "leaving") == 0 || strcmp(what, "begun") == 0;
  int provided;
  if (threaded)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(what, "late") == 0) late();
  if (strcmp(what, "rooted") == 0) rooted();
  if (strcmp(what, "many") == 0) many();
  if (strcmp(what, "gathered") == 0) gathered();
  if (strcmp(what, "begun") == 0) begun(provided == MPI_THREAD_MULTIPLE);
  if (strcmp(what, "threads") == 0 && provided == MPI_THREAD_MULTIPLE) threads();
  if (strcmp(what, "leaving") == 0 && provided == MPI_THREAD_MULTIPLE) leaving();
  if (strcmp(what, "regions") == 0) regions();
  if (strcmp(what, "unfinished") == 0 || strcmp(what, "abort") == 0)
    MPI_Allreduce(x, y, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(what, "abort") == 0) {
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    pause_ms(20000);
  }
  char line[100] = "";
  if (rank == 0 && fgets(line, sizeof line, stdin)) printf("read %s", line);
  if (strcmp(what, "unfinished") != 0) MPI_Finalize();
  return rank == 0 && strcmp(what, "status") == 0 ? 5 : 0;
}
