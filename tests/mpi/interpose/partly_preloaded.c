/* A program of which only some processes have our object; the launcher does not tell which. "halves": they work on a
 * communicator of all ranks but the last, which is without it. "spawn" with the path of this program: they start a
 * process without it ("child"), and exchange messages only. The exit status is 1 if a result is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int halves(void) {
  int rank, ranks, own, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm half, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank == ranks - 1, rank, &half);
  MPI_Comm_size(half, &own);
  for (int call = 0; call < 3; ++call) {
    double one = 1, sum = 0;
    MPI_Request request;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
    wrong |= sum != own;
    MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, half, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong |= sum != own;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy); /* after a non-blocking call on some ranks */
    MPI_Comm_free(&copy);
  }
  MPI_Comm_free(&half);
  return wrong;
}

static int with_other(MPI_Comm other, int is_child) {
  MPI_Comm both;
  int sent = 1 + is_child, received = 0, sizes = 0;
  MPI_Intercomm_merge(other, is_child, &both);
  MPI_Comm_size(both, &sizes);
  MPI_Sendrecv(&sent, 1, MPI_INT, !is_child, 0, &received, 1, MPI_INT, !is_child, 0, both, MPI_STATUS_IGNORE);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&other);
  return received != 2 - is_child || sizes != 2;
}

int main(int argc, char** argv) {
  int wrong = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm other;
  if (strcmp(argv[1], "halves") == 0) {
    wrong = halves();
  } else if (strcmp(argv[1], "spawn") == 0) {
    char* arguments[] = {"-u", "LD_PRELOAD", argv[0], "child", NULL};
    double one = 1, sum;
    MPI_Request request;
    MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_spawn("/usr/bin/env", arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
    wrong = with_other(other, 0);
  } else {
    MPI_Comm_get_parent(&other);
    wrong = with_other(other, 1);
  }
  MPI_Finalize();
  return wrong;
}
