/* Random collectives, checked against a plain computation: argv: seed, seconds, and the rank and turn that send a wrong
   bit (-1: none; -2: all ranks lose memory instead). Rank 0 prints the turns; a rank that finds a wrong result says so
   and ends the job with 9, and one whose memory grows with 8. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 60000, WARM_UP = 60, LEAST_TURNS = 80, MOST_GROWTH_KIB = 8 << 10 };
enum { ALLREDUCE, BCAST, ALLGATHER, REDUCE_SCATTER, ALLTOALL, KINDS };
static const char* const names[] = {"allreduce", "bcast", "allgather", "reduce_scatter", "alltoall"};

/* The same number on every rank (splitmix64). */
static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Element i of a rank's data in a turn; sums wrap, so that their order does not matter. */
static uint64_t datum(uint64_t turn_seed, int rank, int i) {
  return mixed(turn_seed ^ mixed((uint64_t)rank << 32 | (uint32_t)i));
}

static long resident_kib(void) {
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) abort();
  fclose(file);
  return 4 * resident;
}

int main(int argc, char** argv) {
  static uint64_t own[MOST], got[MOST];
  int rank, ranks, go_on = 1, turn = 0;
  long before = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
  const uint64_t seed = strtoull(argv[1], NULL, 10);
  const double end = MPI_Wtime() + atof(argv[2]);
  for (; go_on; ++turn) {
    const uint64_t of_turn = mixed(seed ^ mixed(turn));
    const int kind = (int)(of_turn % KINDS), root = (int)(of_turn / KINDS % ranks);
    const int bits = (int)(mixed(of_turn) % 16); /* sizes of all magnitudes */
    const int all = 1 + (int)(mixed(of_turn + 1) % ((uint64_t)1 << bits)), each = all / ranks + 1;
    const int is_whole = kind == ALLREDUCE || kind == BCAST;
    const int sent = is_whole ? all : kind == ALLGATHER ? each : each * ranks;
    const int received = is_whole ? all : kind == REDUCE_SCATTER ? each : each * ranks;
    for (int i = 0; i < sent; ++i) own[i] = datum(of_turn, rank, i);
    if (rank == atoi(argv[3]) && turn == atoi(argv[4])) own[0] ^= 1;
    if (atoi(argv[3]) == -2) memset(malloc(1 << 20), 1 + turn % 2, 1 << 20);
    for (int i = 0; i < received; ++i) got[i] = kind == BCAST && rank == root ? own[i] : 0;
    switch (kind) {
    case ALLREDUCE: MPI_Allreduce(own, got, all, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD); break;
    case BCAST: MPI_Bcast(got, all, MPI_UINT64_T, root, MPI_COMM_WORLD); break;
    case ALLGATHER: MPI_Allgather(own, each, MPI_UINT64_T, got, each, MPI_UINT64_T, MPI_COMM_WORLD); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter_block(own, got, each, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD); break;
    default: MPI_Alltoall(own, each, MPI_UINT64_T, got, each, MPI_UINT64_T, MPI_COMM_WORLD);
    }
    for (int i = 0; i < received; ++i) {
      uint64_t right = 0;
      if (kind == BCAST) right = datum(of_turn, root, i);
      if (kind == ALLGATHER) right = datum(of_turn, i / each, i % each);
      if (kind == ALLTOALL) right = datum(of_turn, i / each, rank * each + i % each);
      if (kind == ALLREDUCE || kind == REDUCE_SCATTER)
        for (int r = 0; r < ranks; ++r) right += datum(of_turn, r, kind == ALLREDUCE ? i : rank * each + i);
      if (got[i] == right) continue;
      fprintf(stderr, "soak: turn %d, rank %d: %s of %d elements: element %d is %016llx, not %016llx\n", turn, rank,
              names[kind], sent, i, (unsigned long long)got[i], (unsigned long long)right);
      MPI_Abort(MPI_COMM_WORLD, 9);
    }
    if (turn == WARM_UP) before = resident_kib();
    int more = turn + 1 < LEAST_TURNS || MPI_Wtime() < end; /* on a busy machine, too */
    MPI_Allreduce(&more, &go_on, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  if (turn > WARM_UP && resident_kib() - before > MOST_GROWTH_KIB) {
    fprintf(stderr, "soak: rank %d: memory grew from %ld to %ld KiB in %d turns\n", rank, before, resident_kib(), turn);
    MPI_Abort(MPI_COMM_WORLD, 8);
  }
  if (rank == 0) printf("%d\n", turn);
  MPI_Finalize();
  return 0;
}
