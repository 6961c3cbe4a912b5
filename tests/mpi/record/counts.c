/* One of nearly every kind of call, each as often and as large as recorded.py knows. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { most = 4096 };
static int rank, ranks, next, before;
static int a[most], b[most], counts[64], places[64];
static double x[most], y[most];

static void collectives(void) {
  const int last = ranks - 1;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(x, y, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) MPI_Allreduce(MPI_IN_PLACE, a, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(a, 7, MPI_INT, last, MPI_COMM_WORLD);
  MPI_Reduce(x, y, 5, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Gather(a, 3, MPI_INT, b, 3, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatter(a, 2, MPI_INT, b, 2, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgather(a, 4, MPI_INT, b, 4, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 4, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) counts[i] = i + 1, places[i] = i * (i + 1) / 2;
  MPI_Gatherv(a, rank + 1, MPI_INT, b, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatterv(a, counts, places, MPI_INT, b, rank + 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgatherv(a, rank + 1, MPI_INT, b, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Scan(x, y, 6, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Exscan(x, y, 6, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  /* Rank i sends j + 1 elements to rank j, and receives i + 1 from each. */
  int from[64], at[64];
  MPI_Datatype doubles[64], of_bytes[64];
  for (int i = 0; i < ranks; ++i) from[i] = rank + 1, at[i] = i * (rank + 1);
  MPI_Alltoallv(a, counts, places, MPI_INT, b, from, at, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) {
    doubles[i] = MPI_DOUBLE;
    of_bytes[i] = MPI_DOUBLE;
    places[i] *= 8, at[i] *= 8;
  }
  MPI_Alltoallw(x, counts, places, doubles, y, from, at, of_bytes, MPI_COMM_WORLD);
  MPI_Datatype three;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  MPI_Bcast(a, 2, three, 0, MPI_COMM_WORLD);
  MPI_Type_free(&three);
  MPI_Request requests[2];
  MPI_Iallreduce(x, y, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void messages(void) {
  MPI_Request request, both[2];
  MPI_Status status;
  MPI_Isend(a, rank + 1, MPI_INT, next, 1, MPI_COMM_WORLD, &request);
  MPI_Recv(b, most, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Send(a, 5, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Sendrecv(a, 2, MPI_INT, next, 2, b, 2, MPI_INT, before, 2, MPI_COMM_WORLD, &status);
  MPI_Sendrecv_replace(a, 3, MPI_INT, next, 3, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(b, 4, MPI_INT, before, 4, MPI_COMM_WORLD, &both[0]);
  MPI_Isend(a, 4, MPI_INT, next, 4, MPI_COMM_WORLD, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  MPI_Recv_init(b, 9, MPI_INT, before, 5, MPI_COMM_WORLD, &both[0]);
  MPI_Send_init(a, 9, MPI_INT, next, 5, MPI_COMM_WORLD, &both[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
}

static void one_sided(void) {
  MPI_Win window;
  MPI_Win_create(x, sizeof x, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(y, 5, MPI_DOUBLE, next, 0, 5, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Accumulate(y, 2, MPI_DOUBLE, next, 10, 2, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Get(y, 3, MPI_DOUBLE, next, 20, 3, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

static void communicators(void) {
  MPI_Comm part, copy, line;
  int in_part, parts, one = 1, sum;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part); /* its ranks in the opposite order */
  MPI_Comm_rank(part, &in_part);
  MPI_Comm_size(part, &parts);
  MPI_Sendrecv(a, 11, MPI_INT, (in_part + 1) % parts, 6, b, 11, MPI_INT, (in_part + parts - 1) % parts, 6, part,
               MPI_STATUS_IGNORE);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part);
  MPI_Comm_free(&part);
  for (int i = 0; i < 200; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
    MPI_Comm_free(&copy);
  }
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &line);
  MPI_Neighbor_alltoall(a, 2, MPI_INT, b, 2, MPI_INT, line); /* never freed */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  collectives();
  messages();
  if (ranks > 1) one_sided(); /* Open MPI 4.1 makes no windows of one rank */
  communicators();
  MPI_Finalize();
  return 0;
}
