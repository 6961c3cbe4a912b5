/* A program whose sums cancel, so that results depend on the order of the additions and on the number of ranks. It
 * writes the bits of its results for comparison, one line an element, and at last whether all ranks got the same.
 * Each element has four addends, spread over the ranks so that the part of each rank is exact. A rank alone adds all
 * of them, rounded once. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { elements = 1500 }; /* three pieces of an exact sum, the last one not whole */

static uint64_t state = 1;
static uint64_t drawn(void) { /* xorshift: the same numbers everywhere */
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}
static double mantissa(void) { return (double)(int32_t)drawn(); }

/* Two large addends that nearly cancel, and two small ones whose sum decides the rest. */
static void addends(double a[4], double* total) {
  const int scale = 60 + (int)(drawn() % 20);
  const double large = mantissa() * 8;
  a[0] = ldexp(large, scale), a[1] = ldexp(-large + (drawn() % 2 ? 1 : 0), scale);
  a[2] = mantissa(), a[3] = mantissa() / 1024;
  *total = (a[0] + a[1]) + (a[2] + a[3]); /* each of the three rounds at most once, and only the last does */
}

/* How the four are spread over `ranks`: what this one adds up is exact, but for a rank alone. */
static double part(const double a[4], double total, int rank, int ranks) {
  if (ranks == 1) return total;
  if (ranks == 2) return rank == 0 ? a[0] + a[1] : a[2] + a[3];
  if (ranks == 3) return rank == 0 ? a[0] + a[1] : a[rank + 1];
  const double spread[4] = {a[0], a[2], a[1], a[3]};
  return rank < 4 ? spread[rank] : 0;
}

static void pause_at_random(unsigned* seed) {
  const struct timespec time = {0, (long)(rand_r(seed) % 3) * 1000000};
  nanosleep(&time, NULL);
}

/* More different lengths than there is room for plans. */
static int right_at_many_lengths(int rank, int ranks) {
  int right = 1;
  for (int n = 1; n <= 300; ++n) {
    double in[300], out[300];
    for (int i = 0; i < n; ++i) in[i] = rank + i, out[i] = -1;
    MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i) right &= out[i] == ranks * (ranks - 1) / 2 + ranks * i;
  }
  return right;
}

static void write_bits(const char* what, const double* values, int n) {
  for (int i = 0; i < n; ++i) {
    uint64_t bits;
    memcpy(&bits, values + i, sizeof bits);
    printf("%s %d %016llx\n", what, i, (unsigned long long)bits);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  unsigned seed = (argc > 1 ? (unsigned)atoi(argv[1]) : 1) * 100 + (unsigned)rank;
  static double mine[elements], golden[elements], sum[elements], again[elements], at_root[elements];
  static float mine32[elements], sum32[elements];
  for (int i = 0; i < elements; ++i) {
    double a[4];
    addends(a, golden + i);
    mine[i] = part(a, golden[i], rank, ranks);
    mine32[i] = ranks <= 2 ? 0.5f / (float)ranks : rank == 0 ? 0x1p60f : rank == ranks - 1 ? -0x1p60f : 0;
    if (ranks > 2 && rank == 1) mine32[i] = 0.5f; /* the sum is a half at any number of ranks */
  }
  pause_at_random(&seed);
  MPI_Allreduce(mine, sum, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  pause_at_random(&seed);
  memcpy(again, mine, sizeof mine);
  MPI_Allreduce(rank % 2 ? MPI_IN_PLACE : mine, again, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  pause_at_random(&seed);
  const int root = ranks - 1;
  memcpy(at_root, mine, sizeof mine);
  /* Few of them in place: MPICH 4.0.2 itself fails on more than 256 at another root than 0. */
  const int few = 200;
  MPI_Reduce(rank == root ? MPI_IN_PLACE : mine, at_root, few, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  MPI_Reduce(mine + few, at_root + few, elements - few, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  pause_at_random(&seed);
  static double begun[elements], begun_at_root[elements]; /* two under way, and one that is waited for meanwhile */
  MPI_Request requests[2];
  MPI_Iallreduce(mine, begun, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, requests);
  MPI_Ireduce(mine, begun_at_root, elements, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, requests + 1);
  MPI_Allreduce(mine32, sum32, elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  /* Infinities of one sign and of both, negative zeros, a NaN, and what overflows on the way but not always at the end.
   */
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (argc > 2 && !right_at_many_lengths(rank, ranks)) MPI_Abort(MPI_COMM_WORLD, 9);
  double special[5] = {-HUGE_VAL, rank % 2 ? -HUGE_VAL : HUGE_VAL, -0.0, rank == 0 ? -NAN : HUGE_VAL, 0x1p1023};
  if (rank == ranks - 1 && ranks > 1) special[4] = -0x1p1023;
  double got[5], product = 1 + 0x1p-50 * (rank + 1), all_products;
  MPI_Allreduce(special, got, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  pause_at_random(&seed);
  MPI_Allreduce(&product, &all_products, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);

  /* Sums of some ranks alone: the last one has those of all, or all but its own. */
  static double scanned[elements], before[elements], own_part[elements], scattered[elements];
  const int last = ranks - 1, share = elements / ranks;
  MPI_Scan(mine, scanned, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  pause_at_random(&seed);
  MPI_Exscan(mine, before, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(mine, own_part, share, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(scanned, elements, MPI_DOUBLE, last, MPI_COMM_WORLD);
  MPI_Bcast(before, elements, MPI_DOUBLE, last, MPI_COMM_WORLD);
  MPI_Gather(own_part, share, MPI_DOUBLE, scattered, share, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  static double first[elements];
  memcpy(first, sum, sizeof sum);
  MPI_Bcast(first, elements, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  int same = memcmp(first, sum, sizeof sum) == 0 && memcmp(first, again, sizeof sum) == 0;
  same &= memcmp(first, begun, sizeof sum) == 0;
  int everywhere = 0;
  MPI_Reduce(&same, &everywhere, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (root != 0 && rank == root) MPI_Send(at_root, elements, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  if (root != 0 && rank == 0) MPI_Recv(at_root, elements, MPI_DOUBLE, root, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) {
    write_bits("golden", golden, elements);
    write_bits("sum", sum, elements);
    write_bits("reduced", at_root, elements);
    write_bits("begun", begun_at_root, elements);
    write_bits("scanned", scanned, elements);
    if (ranks > 1) write_bits("before", before, elements);
    write_bits("scattered", scattered, share * ranks);
    write_bits("special", got, 5);
    write_bits("product", &all_products, 1);
    for (int i = 0; i < elements; i += 500) printf("float %d %a\n", i, sum32[i]);
    printf("same %d\n", everywhere);
  }
  MPI_Finalize();
  return 0;
}
