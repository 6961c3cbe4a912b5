/* Calls that are repeated many times, some with a difference that is easily overlooked: the buffers, in place, the
 * root, a type or communicator with the handle of a freed one. The exit status is 1 if a result is wrong; the summary
 * must count each call. */
#include <mpi.h>
#include <stdio.h>

enum { times = 100, most = 64 };

static int wrong;
static void expect(int is, const char* what) {
  if (!is && !wrong++) fprintf(stderr, "again: %s\n", what);
}

/* Sums of i + rank over the ranks, in place every third time, in the other of two memories every second. */
static void sums(MPI_Comm comm, int i) {
  static int memory[2][2];
  int ranks, rank, *in = memory[i % 2], *out = memory[1 - i % 2];
  MPI_Comm_size(comm, &ranks), MPI_Comm_rank(comm, &rank);
  in[0] = i + rank, in[1] = 1;
  if (i % 3 == 0) out = in;
  MPI_Allreduce(i % 3 == 0 ? MPI_IN_PLACE : in, out, 2, MPI_INT, MPI_SUM, comm);
  expect(out[0] == ranks * i + ranks * (ranks - 1) / 2 && out[1] == ranks, "a sum on all ranks");
  in[0] = i + rank, in[1] = -1;
  MPI_Reduce(in, out == in ? memory[1 - i % 2] : out, 1, MPI_INT, MPI_MAX, i % ranks, comm);
  if (rank == i % ranks) expect((out == in ? memory[1 - i % 2] : out)[0] == i + ranks - 1, "a maximum at the root");
}

static void broadcasts(MPI_Comm comm, int i) {
  int rank, values[2], root = i < times / 2 ? 0 : 1;
  MPI_Comm_rank(comm, &rank);
  values[0] = rank == root ? i : -1, values[1] = rank;
  MPI_Bcast(values, 2, MPI_INT, root, comm);
  expect(values[0] == i && values[1] == root, "a broadcast");
}

/* From and to a root that changes, in place there every third time. */
static void blocks(MPI_Comm comm, int i) {
  int ranks, rank, root, mine, all[most];
  MPI_Comm_size(comm, &ranks), MPI_Comm_rank(comm, &rank);
  root = i % ranks;
  const int in_place = i % 3 == 0 && rank == root;
  mine = i + rank;
  all[rank] = in_place ? mine : -1;
  MPI_Gather(in_place ? MPI_IN_PLACE : &mine, 1, MPI_INT, all, 1, MPI_INT, root, comm);
  for (int r = 0; rank == root && r < ranks; ++r) expect(all[r] == i + r, "what is gathered"), all[r] += 100;
  MPI_Scatter(all, 1, MPI_INT, in_place ? MPI_IN_PLACE : &mine, 1, MPI_INT, root, comm);
  expect(in_place || mine == i + rank + 100, "what is scattered");
}

/* A type that is freed, and another one that may have its handle: the bytes differ. */
static void types(void) {
  for (int i = 0; i < times; ++i) {
    MPI_Datatype type;
    char data[most] = {0};
    const int length = i % 2 ? 1 : most;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    data[length - 1] = rank == 0 ? 7 : 0;
    MPI_Type_contiguous(length, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    expect(data[length - 1] == 7, "a broadcast of a type");
  }
}

/* A communicator that is freed, and another one that may have its handle: the ranks stand the other way round, or are
 * alone. */
static void communicators(void) {
  int ranks, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks), MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 20; ++i) {
    MPI_Comm comm;
    const int alone = i % 4 == 3;
    MPI_Comm_split(MPI_COMM_WORLD, alone ? rank : 0, i % 2 ? rank : -rank, &comm);
    for (int k = 0; k < 3; ++k) {
      sums(comm, k);
      if (!alone) broadcasts(comm, k);
    }
    MPI_Comm_free(&comm);
  }
}

/* One that is begun on a communicator that then goes: it is waited for no longer. */
static void never_set_up(void) {
  int in = 1, out = 0;
  MPI_Comm comm;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
}

static void begun(void) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < times; ++i) {
    int in = i, out = -1, data = i, rank;
    MPI_Request both[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) data = -1;
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &both[0]);
    MPI_Ibcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    expect(out == ranks * i && data == i, "what was begun");
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < times; ++i) sums(MPI_COMM_WORLD, i), broadcasts(MPI_COMM_WORLD, i), blocks(MPI_COMM_WORLD, i);
  types();
  never_set_up();
  communicators();
  begun();
  MPI_Finalize();
  return wrong != 0;
}
