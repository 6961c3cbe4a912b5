/* Programs that do not end normally; the arguments say how. "abort": MPI_Abort in the middle of a collective. "leave":
 * no MPI_Finalize. "unequal": after a call with unequal lengths, which the second argument names. Else rank 1 is
 * stopped or killed (the second argument says which) while the others wait for it in the call that the first argument
 * names, or in MPI_Init ("init"). */
#include "library_functions.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void waits_in(const char* call) {
  static double in[1000], out[1000];
  MPI_Request request;
  int one = 1, sum;
  if (strcmp(call, "allreduce") == 0) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* as before */
  if (strcmp(call, "new_allreduce") == 0) MPI_Allreduce(in, out, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(call, "recv") == 0) MPI_Recv(in, 1000, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(call, "barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(call, "iallreduce") == 0) {
    MPI_Iallreduce(in, out, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (strcmp(call, "polled") == 0) {
    MPI_Iallreduce(in, out, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

/* Of ranks that end without MPI_Finalize the launcher may tell another status. */
static void ends_with(int status) {
  fprintf(stderr, "ends with %d\n", status);
  _exit(status);
}

int main(int argc, char** argv) {
  /* By what the launchers say of the rank, since MPI does not yet. */
  const char* before = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
  if (argc > 2 && strcmp(argv[1], "init") == 0 && before && atoi(before) == 1)
    raise(strcmp(argv[2], "stop") == 0 ? SIGSTOP : SIGKILL);
  MPI_Init(&argc, &argv);
  int rank, in = 1, out = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (argc > 1 && strcmp(argv[1], "abort") == 0) {
    if (rank == 1) usleep(300000); /* for the launcher to pass on what was said */
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    double sums[1000];
    for (;;) MPI_Allreduce(MPI_IN_PLACE, sums, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (argc > 1 && strcmp(argv[1], "unequal") == 0) { /* rank 1 alone finds it, and rank 0 that nobody sends any more */
    static char bytes[200], others[400], many[2 << 20];
    const char* const call = argc > 2 ? argv[2] : "bcast";
    const int length = rank == 0 ? 200 : 100;
    int first = MPI_SUCCESS, class = MPI_SUCCESS, any;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(call, "bcast") == 0) first = MPI_Bcast(bytes, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (strcmp(call, "gather") == 0) /* which rank 0 gets too little of, or too much */
      first = MPI_Gather(bytes, 300 - length, MPI_CHAR, others, 100, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (strcmp(call, "iallreduce") == 0) {
      first = MPI_Iallreduce(bytes, others, length, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD, &request);
      if (first == MPI_SUCCESS) first = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (strcmp(call, "alltoallv") == 0) {
      const int sent[2] = {rank == 0 ? 200 : length, 200}, places[2] = {0, 0}, received[2] = {200, 200},
                apart[2] = {0, 200};
      first = MPI_Alltoallv(bytes, sent, places, MPI_CHAR, others, received, apart, MPI_CHAR, MPI_COMM_WORLD);
    }
    if (strcmp(call, "alltoallv_in_place") == 0) { /* then a longer one, which must not use the memory of the first */
      int lengths[2] = {3000, rank == 0 ? 2000 : 3000}, places[2] = {0, 1 << 20};
      first = MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_CHAR, many, lengths, places, MPI_CHAR, MPI_COMM_WORLD);
      lengths[0] = lengths[1] = 1 << 20;
      if (MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_CHAR, many, lengths, places, MPI_CHAR, MPI_COMM_WORLD) ==
          MPI_SUCCESS)
        ends_with(2);
    }
    MPI_Error_class(first, &class);
    if (strcmp(call, "bcast") != 0) { /* some rank finds it; a sender may have ended before */
      class = class == MPI_ERR_TRUNCATE;
      LIBRARY(Allreduce, &class, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      ends_with(any ? 9 : 1);
    }
    const int second = MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ends_with(class == (rank == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS) && second != MPI_SUCCESS ? 9 : 1);
  }
  if (argc > 1 && strcmp(argv[1], "polls") == 0) { /* longer than a time limit, for what is the library's */
    MPI_Request other = MPI_REQUEST_NULL;
    if (rank == 1) sleep(4);
    MPI_Iallreduce(MPI_IN_PLACE, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 1) MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (rank == 0) MPI_Irecv(&out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &other);
    for (int done = rank; !done;) MPI_Test(&other, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
  }
  if (argc > 2 && rank == 1) raise(strcmp(argv[2], "stop") == 0 ? SIGSTOP : SIGKILL);
  if (argc > 2) waits_in(argv[1]);
  _exit(0);
}
