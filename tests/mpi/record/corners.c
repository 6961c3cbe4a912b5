/* Calls that are seldom made, or made in a seldom way, each by a word. For two ranks, unless said otherwise. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include KUMIHIMO_HEADER

static int rank, ranks;

/* A receive that is asked for before it is waited for. */
static void asked(void) {
  int x = rank, y, there = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&y, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  while (!there) MPI_Request_get_status(request, &there, &status);
  MPI_Wait(&request, &status);
  if (y != 1 - rank) abort();
}

static void replaced(void) {
  int x = rank;
  MPI_Sendrecv_replace(&x, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (x != 1 - rank) abort();
}

/* One rank and the others: two groups that differ in size, with three ranks. The counts end where the page does. */
static void between(void) {
  MPI_Comm own, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &both);
  int n;
  MPI_Comm_size(own, &n);
  char* const page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(page + 4096, 4096, PROT_NONE);
  int* const counts = (int*)(page + 4096) - n;
  for (int i = 0; i < n; ++i) counts[i] = 2 * (ranks - 1) / n;
  double sent[64] = {0}, got[64];
  MPI_Reduce_scatter(sent, got, counts, MPI_DOUBLE, MPI_SUM, both);
  MPI_Reduce_scatter_block(sent, got, 2 * (ranks - 1) / n, MPI_DOUBLE, MPI_SUM, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&own);
}

/* A freed request whose handle comes back for one that sends nothing. */
static void reused(void) {
  int x = rank, y;
  MPI_Request request;
  MPI_Send_init(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Recv_init(&y, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 10; ++i) {
    MPI_Start(&request);
    MPI_Send(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

/* Sums that are completed past every hook. Messages then get their requests' handles. */
static void elsewhere(void) {
  int x = rank, y;
  MPI_Request request;
  for (int i = 0; i < 20; ++i) {
    MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(&y, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    usleep(1000);
    MPI_Send(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* Each communicator a duplicate of the one before. */
static void chain(void) {
  MPI_Comm now, next;
  MPI_Comm_dup(MPI_COMM_WORLD, &now);
  for (int i = 0; i < 50; ++i) {
    MPI_Barrier(now);
    MPI_Comm_dup(now, &next);
    MPI_Comm_free(&now);
    now = next;
  }
  MPI_Comm_free(&now);
}

/* Short calls, of which the recorder times a sample. */
static void short_calls(void) {
  double* base;
  double x = rank, y;
  int there;
  MPI_Win window;
  MPI_Win_allocate(sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < 4000; ++i) {
    if (i == 1000) MPI_Pcontrol(0);
    if (i == 2000) MPI_Pcontrol(1);
    MPI_Put(&x, 1, i % 4 ? MPI_DOUBLE : MPI_FLOAT, rank, 0, 1, i % 4 ? MPI_DOUBLE : MPI_FLOAT, window);
    MPI_Win_flush_local_all(window);
    if (i % 400 == 399) MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  for (int i = 0; i < 500; ++i) {
    MPI_Request requests[2];
    MPI_Irecv(&y, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&x, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Comm lasting[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_WORLD};
  for (int i = 0; i < 3000; ++i) MPI_Iprobe(MPI_ANY_SOURCE, 1, lasting[i % 3], &there, MPI_STATUS_IGNORE);
}

/* One handle for communicators of one rank and of all, by turns, each freed before the next is made. */
static void handles(void) {
  for (int i = 0; i < 40; ++i) {
    MPI_Comm now;
    int there, x = 1, y;
    MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? rank : 0, rank, &now);
    for (int k = 0; k < 100; ++k) {
      MPI_Iprobe(MPI_ANY_SOURCE, 1, now, &there, MPI_STATUS_IGNORE);
      MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, now);
    }
    MPI_Comm_free(&now);
  }
}

static void* probes(void* unused) {
  int there;
  for (int k = 0; k < 5000; ++k) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
  return unused;
}

static void at_once(void) {
  puts("threads");
  fflush(stdout);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, probes, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

static void* tests(void* request) {
  int done = 0;
  for (int k = 0; k < 1000; ++k) MPI_Test(request, &done, MPI_STATUS_IGNORE);
  return done ? NULL : request;
}

/* A thread polls for what comes only after its end. */
static void polled(void) {
  puts("threads");
  fflush(stdout);
  pthread_t thread;
  MPI_Request request;
  int x = 1, y;
  MPI_Irecv(&y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  pthread_create(&thread, NULL, tests, &request);
  pthread_join(thread, NULL);
  MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void* one_message(void* unused) {
  int x = 1;
  MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  return unused;
}

/* Many threads, never two of them at once besides the first. */
static void one_by_one(void) {
  puts("threads");
  fflush(stdout);
  for (int i = 0; i < 50; ++i) {
    pthread_t thread;
    MPI_Request request;
    int y;
    MPI_Irecv(&y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    pthread_create(&thread, NULL, one_message, NULL);
    pthread_join(thread, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* Two processes more, which end after their parents. */
static void spawned(char* program) {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) {
    char* arguments[] = {"spawned", NULL};
    MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent, MPI_ERRCODES_IGNORE);
    for (int i = 0; i < 5; ++i) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Barrier(parent);
  MPI_Comm_disconnect(&parent);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  int provided;
  const int threads = strcmp(what, "one_by_one") == 0 || strcmp(what, "at_once") == 0 || strcmp(what, "polled") == 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(what, "asked") == 0) asked();
  if (strcmp(what, "replaced") == 0) replaced();
  if (strcmp(what, "between") == 0) between();
  if (strcmp(what, "reused") == 0) reused();
  if (strcmp(what, "elsewhere") == 0) elsewhere();
  if (strcmp(what, "chain") == 0) chain();
  if (strcmp(what, "short_calls") == 0) short_calls();
  if (strcmp(what, "handles") == 0) handles();
  if (strcmp(what, "at_once") == 0 && provided == MPI_THREAD_MULTIPLE) at_once();
  if (strcmp(what, "polled") == 0 && provided == MPI_THREAD_MULTIPLE) polled();
  if (strcmp(what, "one_by_one") == 0 && provided == MPI_THREAD_MULTIPLE) one_by_one();
  if (strcmp(what, "spawned") == 0) spawned(argv[0]);
  if (strcmp(what, "left") == 0) {
    kumihimo_begin("a region with a name too long for a short string", "seconds <= 1");
    kumihimo_begin("another region with a name too long for a short string", "");
    exit(0);
  }
  MPI_Finalize();
  return 0;
}
