// Puts from rank 0 to rank 1 by the engines in turn: MB/s. The ranks exchange their addresses by files.
//   rails RANK FOLDER OPTIONS ENGINES BYTES PUTS
#include <kumihimo/remote_memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank_of_this, exchanges;

static void name_of(char* name, size_t size, const char* folder, int rank) {
  snprintf(name, size, "%s/%d.%d", folder, exchanges, rank);
}

static int exchange(const void* mine, void* all, size_t bytes, void* folder) {
  char name[512], hidden[520];
  name_of(name, sizeof name, folder, rank_of_this);
  snprintf(hidden, sizeof hidden, "%s.new", name);
  FILE* file = fopen(hidden, "wb");
  if (!file || fwrite(mine, 1, bytes, file) != bytes || fclose(file) != 0 || rename(hidden, name) != 0) return 1;
  for (int rank = 0; rank < 2; ++rank) {
    name_of(name, sizeof name, folder, rank);
    while (!(file = fopen(name, "rb"))) {
      const struct timespec moment = {0, 1000000};
      nanosleep(&moment, NULL);
    }
    if (fread((char*)all + (size_t)rank * bytes, 1, bytes, file) != bytes) return 1;
    fclose(file);
  }
  ++exchanges;
  return 0;
}

static void check(int code) {
  if (code == KUMIHIMO_RMA_OK) return;
  fprintf(stderr, "%s\n", kumihimo_rma_error());
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int count, char** words) {
  if (count != 7) return fprintf(stderr, "rails RANK FOLDER OPTIONS ENGINES BYTES PUTS\n"), 2;
  rank_of_this = atoi(words[1]);
  const int engines = atoi(words[4]), puts = atoi(words[6]);
  const int64_t bytes = atoll(words[5]);
  kumihimo_rma* rma = NULL;
  check(kumihimo_rma_open(rank_of_this, 2, exchange, words[2], words[3], &rma));
  char* const memory = calloc(1, (size_t)bytes);
  if (!memory) return 1;
  struct {
    kumihimo_rma_key key;
  } mine, both[2];
  check(kumihimo_rma_register(rma, memory, bytes, &mine.key));
  if (exchange(&mine, both, sizeof mine, words[2]) != 0) return 1;
  for (int warm = 1; rank_of_this == 0 && warm >= 0; --warm) {
    const int of_these = warm ? 2 * engines : puts;
    const double begin = now();
    for (int i = 0; i < of_these; ++i) {
      check(kumihimo_rma_use_engine(rma, i % engines));
      check(kumihimo_rma_put(rma, memory, bytes, &both[1].key, 0, NULL));
    }
    check(kumihimo_rma_fence(rma, 1, 60));
    if (!warm) printf("%.2f\n", 1e-6 * (double)bytes * of_these / (now() - begin));
  }
  check(kumihimo_rma_close(rma, 60));
  free(memory);
  return 0;
}
