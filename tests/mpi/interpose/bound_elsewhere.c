/* Non-blocking sums that are begun by MPI_Iallreduce, and completed past what was loaded before the MPI library: by the
 * profiling names ("profiling"), by addresses from the library's own handle ("handle"), by functions of this program
 * ("own", linked with completions.c), or by a library that is bound otherwise (the path of one of completions.c). The
 * second argument names the call that completes them. "all": one after another, without those that MPI forbids for
 * collectives. "polled": these, but not MPI_Request_get_status. The exit status is 1 if a sum is wrong. */
#include "completions.h"

#include <stdio.h>
#include <string.h>

enum { length = 3000, turns = 20, most = 16 << 20 };
static int rank, ranks, wrong;
static double in[length], out[length];

const struct completions* completions(void) __attribute__((weak));

static struct completions found_by(const char* how) {
  struct completions found = COMPLETIONS(PMPI_);
  if (strcmp(how, "profiling") == 0) return found;
  if (strcmp(how, "own") == 0) return *completions();
  if (strcmp(how, "handle") == 0) {
#define FIND(member, name) *(void**)&found.member = library_function("MPI_" #name)
    FIND(wait, Wait), FIND(waitall, Waitall), FIND(waitany, Waitany), FIND(waitsome, Waitsome);
    FIND(test, Test), FIND(testall, Testall), FIND(testany, Testany), FIND(testsome, Testsome);
    FIND(get_status, Request_get_status), FIND(cancel, Cancel), FIND(free, Request_free);
    return found;
  }
  void* const library = dlopen(how, RTLD_NOW | RTLD_LOCAL | (strstr(how, "plugin") ? RTLD_DEEPBIND : 0));
  if (!library) fprintf(stderr, "%s\n", dlerror()), abort();
  const struct completions* (*ask)(void);
  *(void**)&ask = dlsym(library, "completions");
  return *ask();
}

static void begin(MPI_Request* request) {
  for (int i = 0; i < length; ++i) in[i] = rank + i, out[i] = -1;
  MPI_Iallreduce(in, out, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

static void end(const char* call) {
  for (int i = 0; i < length; ++i)
    if (out[i] != ranks * (ranks - 1) / 2 + (double)ranks * i) {
      wrong = 1;
      fprintf(stderr, "rank %d: element %d after %s: %g\n", rank, i, call, out[i]);
      return;
    }
}

/* One sum with a message, so that calls for several requests have several. */
static void sum(const struct completions* by, const char* call) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  int sent = rank, received = -1, index, number, done = 0, left = 2, indices[3];
  MPI_Request of[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status[3];
  begin(&of[1]);
  MPI_Irecv(&received, 1, MPI_INT, before, 3, MPI_COMM_WORLD, &of[2]);
  if (strcmp(call, "wait") == 0) by->wait(&of[1], status);
  if (strcmp(call, "get_status") == 0)
    while (!done) by->get_status(of[1], &done, status);
  if (strcmp(call, "cancel") == 0) by->cancel(&of[1]), by->wait(&of[1], status);
  if (strcmp(call, "test") == 0)
    while (!done) by->test(&of[1], &done, status);
  if (strcmp(call, "free") == 0) { /* which MPI forbids for collectives, and libraries bear */
    by->free(&of[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    while (out[length - 1] == -1) MPI_Test(&of[2], &done, status);
  }
  MPI_Send(&sent, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
  if (strcmp(call, "waitall") == 0) by->waitall(3, of, status);
  if (strcmp(call, "testall") == 0)
    while (!done) by->testall(3, of, &done, status);
  if (strcmp(call, "waitany") == 0)
    for (; left > 0; --left) by->waitany(3, of, &index, status);
  if (strcmp(call, "testany") == 0)
    for (; left > 0; left -= done) by->testany(3, of, &index, &done, status);
  if (strcmp(call, "waitsome") == 0)
    for (; left > 0; left -= number) by->waitsome(3, of, &number, indices, status);
  if (strcmp(call, "testsome") == 0)
    for (; left > 0; left -= number) by->testsome(3, of, &number, indices, status);
  MPI_Waitall(3, of, MPI_STATUSES_IGNORE);
  if (strcmp(call, "free") != 0) end(call);
  if (received != before) wrong = 1;
}

/* Rank 1 receives, which needs rank 0 to make progress, before it begins the sum that rank 0 waits for. */
static void send_before_it(const struct completions* by) {
  static int data[most];
  MPI_Request of, message = MPI_REQUEST_NULL;
  if (ranks > 1 && rank == 0) MPI_Isend(data, most, MPI_INT, 1, 5, MPI_COMM_WORLD, &message);
  if (rank == 1) MPI_Recv(data, most, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  begin(&of);
  by->wait(&of, MPI_STATUS_IGNORE);
  end("a send before it");
  MPI_Wait(&message, MPI_STATUS_IGNORE);
}

/* Sums that wait in line while others are under way, the last one waited for first. */
static void many(const struct completions* by) {
  enum { number = 100 };
  static double from[number], to[number];
  MPI_Request of[number];
  for (int i = 0; i < number; ++i) {
    from[i] = i, to[i] = -1;
    MPI_Iallreduce(&from[i], &to[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &of[i]);
  }
  for (int i = number - 1; i >= number / 2; --i) by->wait(&of[i], MPI_STATUS_IGNORE);
  by->waitall(number / 2, of, MPI_STATUSES_IGNORE);
  for (int i = 0; i < number; ++i) wrong |= to[i] != ranks * i;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const struct completions by = found_by(argv[1]);
  const char* const calls[] = {"wait",    "waitall", "waitany",  "waitsome",  "test",
                               "testall", "testany", "testsome", "get_status"};
  const int polled = strcmp(argv[2], "polled") == 0, all = polled || strcmp(argv[2], "all") == 0;
  for (int turn = 0; all && turn < turns; ++turn)
    for (int i = 0; i < 9 - polled; ++i) sum(&by, calls[i]);
  if (all) send_before_it(&by), many(&by);
  if (!all) sum(&by, argv[2]);
  MPI_Finalize();
  if (rank == 0) printf("%s\n", wrong ? "wrong" : "right");
  return wrong;
}
