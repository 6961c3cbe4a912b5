/* Each rank puts numbers into its right neighbour's memory, with a flag, and gets them back. */
#include <kumihimo/remote_memory_mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { numbers = 1 << 16, flag = 3, limit = 30 /* seconds */ };

static void check(int code) {
  if (code == KUMIHIMO_RMA_OK) return;
  fprintf(stderr, "%s\n", kumihimo_rma_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;

  kumihimo_rma* rma;
  check(kumihimo_rma_open_mpi(MPI_COMM_WORLD, argc > 1 ? argv[1] : NULL, &rma));
  if (rank == 0) printf("%d ranks over %s\n", ranks, kumihimo_rma_description(rma));

  /* Every rank registers memory and gets the keys of the others. */
  double* received = malloc(numbers * sizeof *received);
  double* sent = malloc(numbers * sizeof *sent);
  kumihimo_rma_key mine, *keys = malloc((size_t)ranks * sizeof *keys);
  check(kumihimo_rma_register(rma, received, numbers * sizeof *received, &mine));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, keys, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);

  /* The neighbour sees the flag when the numbers are there. */
  for (int i = 0; i < numbers; ++i) sent[i] = rank * 1e6 + i;
  kumihimo_rma_completion open = KUMIHIMO_RMA_NOTHING;
  check(kumihimo_rma_put_flag(rma, sent, numbers * sizeof *sent, &keys[right], 0, flag, &open));
  check(kumihimo_rma_wait_flag(rma, flag, 1, left, limit));
  int wrong = 0;
  for (int i = 0; i < numbers; ++i) wrong += received[i] != left * 1e6 + i;

  /* Complete: the source may be changed. The fence: the target has the data. Then they can be got. */
  check(kumihimo_rma_wait(rma, &open, limit));
  for (int i = 0; i < numbers; ++i) sent[i] = 0;
  check(kumihimo_rma_fence(rma, right, limit));
  check(kumihimo_rma_get(rma, sent, numbers * sizeof *sent, &keys[right], 0, &open));
  check(kumihimo_rma_wait(rma, &open, limit));
  for (int i = 0; i < numbers; ++i) wrong += sent[i] != rank * 1e6 + i;

  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong numbers\n", all);
  check(kumihimo_rma_close(rma, limit));
  free(keys), free(sent), free(received);
  MPI_Finalize();
  return all != 0;
}
