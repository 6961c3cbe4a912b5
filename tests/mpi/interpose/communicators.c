/* A thousand communicators, one after another; some are kept for a while, some freed by the program's function for an
 * attribute of another one. Memory must not grow. The exit status is 1 if a sum is wrong, 2 if the memory of a rank
 * grew by more than 8 MiB from the 300th communicator to the last, 3 if 64 communicators at once take more than 8
 * MiB, 2 of them for the library itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { number = 1000, kept = 8, settled = 300, at_once = 64 };

static double resident_mebibytes(void) {
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) abort();
  fclose(file);
  return resident * 4096.0 / (1 << 20);
}

static int free_inner(MPI_Comm comm, int keyval, void* inner, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  const int code = MPI_Comm_free(inner);
  free(inner);
  return code;
}

/* A sum of ones: the number of ranks. */
static int ones(MPI_Comm comm) {
  int in = 1, out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
  return out;
}

static double many_at_once(int ranks, int* wrong) {
  MPI_Comm comms[at_once];
  const double before = resident_mebibytes();
  for (int i = 0; i < at_once; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    *wrong |= ones(comms[i]) != ranks;
  }
  const double taken = resident_mebibytes() - before;
  for (int i = 0; i < at_once; ++i) MPI_Comm_free(&comms[i]);
  return taken;
}

static void one_within_another(int keyval, int ranks, int* wrong) {
  MPI_Comm outer, *inner = malloc(sizeof *inner);
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  MPI_Comm_dup(MPI_COMM_WORLD, inner);
  *wrong |= ones(outer) != ranks || ones(*inner) != ranks;
  MPI_Comm_set_attr(outer, keyval, inner);
  MPI_Comm_free(&outer);
}

/* A sum in a function for an attribute, to which the ranks come by different calls. */
static int sum_in_it;
static int sum_at_end(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  sum_in_it = ones(MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

static void by_different_calls(int rank, int ranks, int* wrong) {
  for (int way = 0; way < 4; ++way) {
    MPI_Comm comm;
    int keyval, value = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_at_end, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &value);
    sum_in_it = 0;
    if (rank == 1 && way == 0) MPI_Comm_delete_attr(comm, keyval);
    if (rank == 1 && way == 1) MPI_Attr_delete(comm, keyval);
    if (way >= 2) { /* to put another value in its place is an end, too */
      if (rank == 1 && way == 2) MPI_Comm_set_attr(comm, keyval, &value);
      if (rank == 1 && way == 3) MPI_Attr_put(comm, keyval, &value);
      if (rank != 1) MPI_Comm_delete_attr(comm, keyval);
      if (rank != 1) MPI_Comm_set_attr(comm, keyval, &value);
    }
    MPI_Comm_free(&comm);
    *wrong |= sum_in_it != ranks;
    MPI_Comm_free_keyval(&keyval);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm comms[kept];
  for (int i = 0; i < kept; ++i) comms[i] = MPI_COMM_NULL;
  const double at_one_time = many_at_once(ranks, &wrong);
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &keyval, NULL);
  by_different_calls(rank, ranks, &wrong);
  double before = 0;
  for (int i = 0; i < number; ++i) {
    MPI_Comm* comm = &comms[i % kept];
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, comm);
    int in = i, out = 0, started = 0;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, *comm);
    MPI_Request request;
    MPI_Iallreduce(&in, &started, 1, MPI_INT, MPI_MAX, *comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong |= out != i * ranks || started != i;
    if (i % 4 == 0) one_within_another(keyval, ranks, &wrong);
    if (i == settled) before = resident_mebibytes();
  }
  const double grown = resident_mebibytes() - before;
  for (int i = 0; i < kept; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  printf("rank %d: %s, grown by %.1f MiB, %d at once %.1f MiB\n", rank, wrong ? "wrong" : "right", grown, at_once,
         at_one_time);
  return wrong ? 1 : grown > 8 ? 2 : at_one_time > 8 ? 3 : 0;
}
