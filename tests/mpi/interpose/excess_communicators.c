/* More communicators than are worth setting up, each with one sum. "live": that many at once. "unseen": one after
 * another, freed by a call that nobody hooks; the memory of a rank may grow by 24 MiB. "full": as many as the library
 * has, then sums on some that had none yet and whose error handler ends the program. The exit status is 1 if a sum or
 * the handler is wrong, 2 if memory grew. */
#include "library_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { many = 150, most = 4096, lengths = 100 };

static double resident_mebibytes(void) {
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) abort();
  fclose(file);
  return resident * 4096.0 / (1 << 20);
}

static int sum_is_wrong(MPI_Comm comm, int count) {
  static double in[2 * lengths], out[2 * lengths];
  int ranks;
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < count; ++i) in[i] = i;
  MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
  for (int i = 0; i < count; ++i)
    if (out[i] != i * ranks) return 1;
  return 0;
}

static int live(void) {
  MPI_Comm comms[many];
  int wrong = 0;
  for (int i = 0; i < many; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    wrong |= sum_is_wrong(comms[i], 3);
  }
  for (int i = 0; i < many; ++i) {
    wrong |= sum_is_wrong(comms[i], 5);
    MPI_Comm_free(&comms[i]);
  }
  return wrong;
}

static int unseen(void) {
  int wrong = 0;
  double before = 0;
  for (int i = 0; i < many; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int length = 1; length <= lengths; ++length) wrong |= sum_is_wrong(comm, length);
    LIBRARY(Comm_free, &comm);
    if (i == 3) before = resident_mebibytes();
  }
  const double grown = resident_mebibytes() - before;
  printf("grown by %.1f MiB\n", grown);
  return wrong ? 1 : grown > 24 ? 2 : 0;
}

static int full(void) {
  static MPI_Comm comms[most];
  MPI_Errhandler handler;
  int number = 0, wrong = sum_is_wrong(MPI_COMM_WORLD, 3);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  while (number < most && MPI_Comm_dup(MPI_COMM_WORLD, &comms[number]) == MPI_SUCCESS) ++number;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  printf("%d communicators\n", number);
  for (int left = 0; left < 4; ++left) { /* ours needs none on one machine */
    const MPI_Comm comm = comms[left];
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    wrong |= sum_is_wrong(comm, 3);
    MPI_Comm_get_errhandler(comm, &handler);
    wrong |= handler != MPI_ERRORS_ARE_FATAL;
    MPI_Comm_free(&comms[--number]);
  }
  while (number > 0) MPI_Comm_free(&comms[--number]);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* what = argc > 1 ? argv[1] : "";
  const int code = strcmp(what, "live") == 0 ? live() : strcmp(what, "unseen") == 0 ? unseen() : full();
  MPI_Finalize();
  return code;
}
