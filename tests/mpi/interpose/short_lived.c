/* Communicators that live for a few calls, one after another, as the argument says: of the same ranks; of ranks in
 * another order; of rows and columns in turn, each with its own lengths; or of more sets of ranks than are kept. The
 * exit status is 1 if a result is wrong, 2 if rings were made again and again or not at all (by /proc). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `most_new`: the world's, and of each kind the first ones, which may give way to each other. */
enum { times = 120, most = 40000, most_files = 1000, most_new = 12 };

static int wrong;
static void expect(int is, const char* what) {
  if (!is && !wrong++) fprintf(stderr, "short_lived: %s\n", what);
}

/* The files that are mapped now and were not before, by the numbers of their inodes. */
static unsigned long seen[most_files];
static int files;
static void look(void) {
  char line[1024];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    unsigned long inode = 0;
    int known = 0;
    if (!strstr(line, "/dev/shm/kumihimo") || sscanf(line, "%*s %*s %*s %*s %lu", &inode) != 1) continue;
    for (int i = 0; i < files; ++i) known |= seen[i] == inode;
    if (!known && files < most_files) seen[files++] = inode;
  }
  fclose(maps);
}

/* Where every rank has another part in each call. */
static void calls(MPI_Comm comm, int i) {
  static double in[most], out[most];
  int ranks, rank, root, word, all[16], count = i % 5 == 4 ? most : i % 7;
  MPI_Request request;
  MPI_Comm_size(comm, &ranks), MPI_Comm_rank(comm, &rank);
  root = i % ranks;
  for (int k = 0; k < count; ++k) in[k] = k * (rank + 1), out[k] = -1;
  if (i % 3 == 1) { /* begun by a non-blocking call */
    MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
  }
  for (int k = 0; k < count; ++k) expect(out[k] == k * ranks * (ranks + 1) / 2, "a sum");
  word = rank == root ? i : -1;
  MPI_Bcast(&word, 1, MPI_INT, root, comm);
  expect(word == i, "a broadcast");
  if (i % 4 == 3) return;
  word = 100 * i + rank;
  MPI_Gather(&word, 1, MPI_INT, all, 1, MPI_INT, root, comm);
  for (int r = 0; rank == root && r < ranks; ++r) expect(all[r] == 100 * i + r, "what is gathered");
}

/* The sets of ranks by turns, as bits, in both orders: rank 0 is in all, and each other one in so few that it keeps
 * what is left of all. */
static void sets(int rank, int i) {
  static const int sets_of[] = {0x3, 0x5, 0x9, 0x7, 0xb, 0xd};
  const int set = sets_of[i % 6];
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, set >> rank & 1 ? 0 : MPI_UNDEFINED, i / 6 % 2 ? -rank : rank, &comm);
  if (comm == MPI_COMM_NULL) return;
  calls(comm, i);
  look();
  MPI_Comm_free(&comm);
}

/* More different calls than are kept for one communicator, none of which has many. */
static void lengths(int i) {
  static int in[1000], out[1000];
  MPI_Comm comm;
  int ranks;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_Comm_size(comm, &ranks);
  for (int k = 0; k < 7; ++k) {
    const int count = 7 * i + k + 1;
    in[count - 1] = i + k;
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
    expect(out[count - 1] == ranks * (i + k), "a sum of another length");
  }
  look();
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int ranks, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks), MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* how = argc > 1 ? argv[1] : "";
  calls(MPI_COMM_WORLD, 0);
  for (int i = 0; i < times; ++i) {
    MPI_Comm comm, two = MPI_COMM_NULL;
    if (!strcmp(how, "sets")) {
      sets(rank, i);
      continue;
    }
    if (!strcmp(how, "lengths")) {
      lengths(i);
      continue;
    }
    if (!strcmp(how, "orders")) { /* the same ranks, as they are and the other way round */
      MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &comm);
    } else if (!strcmp(how, "rows")) { /* pairs of neighbours, then every second one */
      MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? rank / 2 : rank % 2, rank, &comm);
    } else { /* two at once */
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Comm_split(MPI_COMM_WORLD, rank == 0 && i % 8 == 7, -rank, &two);
    }
    calls(comm, i);
    if (two != MPI_COMM_NULL) calls(two, i + 1);
    look();
    if (two != MPI_COMM_NULL) MPI_Comm_free(&two);
    MPI_Comm_free(&comm);
  }
  calls(MPI_COMM_WORLD, times);
  fprintf(stderr, "rank %d: %d files of rings\n", rank, files);
  MPI_Finalize();
  if (wrong) return 1;
  return files == 0 || (files > most_new && strcmp(how, "sets")) ? 2 : 0;
}
