/* forked PROVIDER: remote memory without MPI. RANKS processes exchange through memory that they share. The last rank
   kills itself; the others find that out, serve each other, and hear of it in a barrier, in which most wait for ranks
   that live. */
#include <kumihimo/remote_memory.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ranks = RANKS, last = RANKS - 1, most = 4096, limit = 20 };

struct shared {
  pthread_barrier_t all, both; /* of all ranks, of those that live on */
  char data[ranks * most];
};
static struct shared* shared;
static int rank;

static int exchange(const void* mine, void* all, size_t bytes, void* argument) {
  if (bytes > most || argument != shared) return 1;
  memcpy(shared->data + (size_t)rank * bytes, mine, bytes);
  pthread_barrier_wait(&shared->all);
  memcpy(all, shared->data, ranks * bytes);
  pthread_barrier_wait(&shared->all);
  return 0;
}

static void expect(int code, int wanted, const char* what) {
  if (code == wanted) return;
  printf("rank %d: %s: %d: %s\n", rank, what, code, kumihimo_rma_error());
  exit(1);
}

static int work(const char* options) {
  kumihimo_rma* rma;
  expect(kumihimo_rma_open(rank, ranks, exchange, shared, options, &rma), KUMIHIMO_RMA_OK, "open");
  int64_t memory[2] = {0, 0}, value = 40 + rank;
  kumihimo_rma_key mine, keys[ranks], keys_of_mapped[ranks];
  expect(kumihimo_rma_register(rma, memory, sizeof memory, &mine), KUMIHIMO_RMA_OK, "register");
  exchange(&mine, keys, sizeof mine, shared);

  kumihimo_rma_completion open = KUMIHIMO_RMA_NOTHING;
  for (int r = 0; r < ranks; ++r)
    expect(kumihimo_rma_put_flag(rma, &value, 8, &keys[r], 0, rank, &open), KUMIHIMO_RMA_OK, "put");
  for (int r = 0; r < ranks; ++r) expect(kumihimo_rma_wait_flag(rma, r, 1, r, limit), KUMIHIMO_RMA_OK, "flag");
  expect(kumihimo_rma_fence(rma, KUMIHIMO_RMA_ALL_RANKS, limit), KUMIHIMO_RMA_OK, "fence");
  expect(kumihimo_rma_barrier(rma, limit), KUMIHIMO_RMA_OK, "barrier");

  void* mapped;
  expect(kumihimo_rma_allocate(rma, ranks * sizeof value, &mapped, &mine), KUMIHIMO_RMA_OK, "allocate");
  exchange(&mine, keys_of_mapped, sizeof mine, shared);
  for (int r = 0; r < ranks; ++r) {
    expect(kumihimo_rma_put_flag(rma, &value, 8, &keys_of_mapped[r], 8 * rank, 30 + rank, &open), KUMIHIMO_RMA_OK,
           "a put to memory of the node");
  }
  for (int r = 0; r < ranks; ++r) {
    int64_t found;
    expect(kumihimo_rma_wait_flag(rma, 30 + r, 1, r, limit), KUMIHIMO_RMA_OK, "a flag by stores");
    expect(kumihimo_rma_fence(rma, r, limit), KUMIHIMO_RMA_OK, "a fence of puts by stores");
    expect(kumihimo_rma_get(rma, &found, 8, &keys_of_mapped[r], 8 * rank, &open), KUMIHIMO_RMA_OK, "a get by copy");
    expect(kumihimo_rma_wait(rma, &open, limit), KUMIHIMO_RMA_OK, "its end");
    if (((int64_t*)mapped)[r] != 40 + r || found != value) {
      printf("rank %d: from rank %d: %ld, there %ld\n", rank, r, (long)((int64_t*)mapped)[r], (long)found);
      return 1;
    }
  }
  expect(kumihimo_rma_barrier(rma, limit), KUMIHIMO_RMA_OK, "barrier");
  pthread_barrier_wait(&shared->all);
  if (rank == last) raise(SIGKILL);

  const int next = (rank + 1) % last, before = (rank + last - 1) % last;
  const int lost = kumihimo_rma_wait_flag(rma, 21, 1, last, limit);
  printf("rank %d: %s\n", rank, kumihimo_rma_error());
  expect(lost, KUMIHIMO_RMA_PEER_FAILED, "a flag of the last rank");
  expect(kumihimo_rma_put(rma, &value, 8, &keys[last], 0, &open), KUMIHIMO_RMA_PEER_FAILED, "a put to the last rank");
  expect(kumihimo_rma_put_flag(rma, &value, 8, &keys[next], 8, 20, &open), KUMIHIMO_RMA_OK, "a put after that");
  expect(kumihimo_rma_wait_flag(rma, 20, 1, before, limit), KUMIHIMO_RMA_OK, "its flag");
  expect(kumihimo_rma_fence(rma, next, limit), KUMIHIMO_RMA_OK, "its fence");
  if (memory[1] != 40 + before) return 1;
  pthread_barrier_wait(&shared->both);
  for (int twice = 0; twice < 2; ++twice)
    expect(kumihimo_rma_barrier(rma, -1), KUMIHIMO_RMA_PEER_FAILED, "a barrier without limit");
  pthread_barrier_wait(&shared->both);
  expect(kumihimo_rma_close(rma, limit), KUMIHIMO_RMA_PEER_FAILED, "close");
  printf("rank %d has ended\n", rank);
  return 0;
}

int main(int argc, char** argv) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_barrierattr_t across;
  pthread_barrierattr_init(&across);
  pthread_barrierattr_setpshared(&across, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->all, &across, ranks);
  pthread_barrier_init(&shared->both, &across, ranks - 1);
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (rank = 0; rank < ranks; ++rank)
    if (fork() == 0) return work(argc > 1 ? argv[1] : NULL);
  int wrong = 0;
  for (int status = 0; wait(&status) > 0;) wrong += WIFEXITED(status) && WEXITSTATUS(status) != 0;
  return wrong;
}
