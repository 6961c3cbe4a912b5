/* Plays the steps of a workload on real MPI: mpicc -O2 -o play play.c && mpirun -n P ./play steps

   Written by `kumihimo workload --program`. Each rank reads steps/RANK: lines of
       c SECONDS                            compute so long
       x N  then N times: PARTNER SENT RECEIVED    exchange messages, bytes
       g COLLECTIVE BYTES GROUP ROOT        as `kumihimo workload` shows them; group 0: all ranks
   and steps/groups: their number, and a line "N RANK ..." for each group from 1 on. What comes is checked: its length,
   and its first and last byte, which name the sender. Prints the time of the slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static char *out, *in; /* for all messages of a step */
static size_t out_bytes, in_bytes;

static void stop(const char* what, const char* where) {
  fprintf(stderr, "play: rank %d: %s (%s)\n", rank, what, where);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static char* room(char* buffer, size_t* have, size_t want) {
  if (want <= *have) return buffer;
  free(buffer);
  if ((buffer = calloc(want, 1)) == NULL) stop("no memory for a step", "give it fewer bytes");
  *have = want;
  return buffer;
}

static FILE* opened(const char* folder, const char* name) {
  char path[4096];
  FILE* file;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if ((file = fopen(path, "r")) == NULL) stop("cannot read the steps; run with as many ranks as they are of", path);
  return file;
}

static void compute(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
  }
}

static char mark(int sender) { return (char)(1 + sender % 101); }

static void exchange(FILE* file, int partners) {
  int* partner = malloc(sizeof(int) * partners);
  long *sent = malloc(sizeof(long) * partners), *received = malloc(sizeof(long) * partners);
  MPI_Request* requests = malloc(2 * sizeof(MPI_Request) * partners);
  MPI_Status* statuses = malloc(2 * sizeof(MPI_Status) * partners);
  size_t to = 0, from = 0;
  for (int i = 0; i < partners; ++i) {
    if (fscanf(file, "%d %ld %ld", &partner[i], &sent[i], &received[i]) != 3) stop("a step is cut off", "write again");
    to += sent[i], from += received[i];
  }
  out = room(out, &out_bytes, to + 1), in = room(in, &in_bytes, from + 1);
  from = 0;
  for (int i = 0; i < partners; from += received[i++])
    in[from] = in[from + (received[i] > 0 ? received[i] - 1 : 0)] = 0,
    MPI_Irecv(in + from, (int)received[i], MPI_BYTE, partner[i], 0, MPI_COMM_WORLD, &requests[i]);
  to = 0;
  for (int i = 0; i < partners; to += sent[i++]) {
    if (sent[i] > 0) out[to] = out[to + sent[i] - 1] = mark(rank);
    MPI_Isend(out + to, (int)sent[i], MPI_BYTE, partner[i], 0, MPI_COMM_WORLD, &requests[partners + i]);
  }
  MPI_Waitall(2 * partners, requests, statuses);
  from = 0;
  for (int i = 0; i < partners; from += received[i++]) {
    int count;
    const char want = mark(partner[i]);
    MPI_Get_count(&statuses[i], MPI_BYTE, &count);
    if (count != received[i]) stop("a message has another length", "exchange");
    if (count > 0 && (in[from] != want || in[from + count - 1] != want)) stop("a message has wrong bytes", "exchange");
  }
  free(partner), free(sent), free(received), free(requests), free(statuses);
}

static void collective(const char* name, long bytes, MPI_Comm group, int root) {
  int size, place;
  MPI_Comm_size(group, &size), MPI_Comm_rank(group, &place);
  const int n = (int)(bytes / sizeof(double));
  if (strcmp(name, "allreduce") == 0) {
    out = room(out, &out_bytes, bytes + 8), in = room(in, &in_bytes, bytes + 8);
    double *give = (double*)out, *get = (double*)in;
    for (int i = 0; i < n; ++i) give[i] = place + 1;
    MPI_Allreduce(give, get, n, MPI_DOUBLE, MPI_SUM, group);
    if (n > 0 && (get[0] != 0.5 * size * (size + 1) || get[n - 1] != get[0])) stop("a sum is wrong", name);
  } else if (strcmp(name, "bcast") == 0) {
    out = room(out, &out_bytes, bytes + 8);
    if (bytes > 0) out[0] = out[bytes - 1] = place == root ? mark(root) : 0;
    MPI_Bcast(out, (int)bytes, MPI_BYTE, root, group);
    if (bytes > 0 && (out[0] != mark(root) || out[bytes - 1] != out[0])) stop("a broadcast is wrong", name);
  } else if (strcmp(name, "allgather") == 0) {
    out = room(out, &out_bytes, bytes + 8), in = room(in, &in_bytes, (size_t)bytes * size + 8);
    if (bytes > 0) out[0] = mark(place);
    memset(in, 0, (size_t)bytes * size);
    MPI_Allgather(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, group);
    for (int i = 0; i < size && bytes > 0; ++i)
      if (in[(size_t)bytes * i] != mark(i)) stop("a gathered block is wrong", name);
  } else if (strcmp(name, "alltoall") == 0) {
    const int block = (int)(bytes / size);
    out = room(out, &out_bytes, (size_t)block * size + 8), in = room(in, &in_bytes, (size_t)block * size + 8);
    for (int i = 0; i < size && block > 0; ++i) out[(size_t)block * i] = mark(place + i);
    memset(in, 0, (size_t)block * size);
    MPI_Alltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, group);
    for (int i = 0; i < size && block > 0; ++i)
      if (in[(size_t)block * i] != mark(i + place)) stop("a block is wrong", name);
  } else {
    stop("an unknown collective", name);
  }
}

static MPI_Comm* groups_in(const char* folder) {
  FILE* file = opened(folder, "groups");
  int many = 0;
  if (fscanf(file, "%d", &many) != 1) stop("its groups are cut off", "write again");
  MPI_Comm* found = malloc(sizeof(MPI_Comm) * (many + 1));
  MPI_Group world;
  found[0] = MPI_COMM_WORLD;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int g = 1; g <= many; ++g) {
    int size, is_in = 0;
    if (fscanf(file, "%d", &size) != 1) stop("its groups are cut off", "write again");
    int* members = malloc(sizeof(int) * size);
    for (int i = 0; i < size; ++i) {
      if (fscanf(file, "%d", &members[i]) != 1) stop("its groups are cut off", "write again");
      is_in |= members[i] == rank;
    }
    found[g] = MPI_COMM_NULL;
    if (is_in) {
      MPI_Group part;
      MPI_Group_incl(world, size, members, &part);
      MPI_Comm_create_group(MPI_COMM_WORLD, part, g, &found[g]);
      MPI_Group_free(&part);
    }
    free(members);
  }
  MPI_Group_free(&world);
  fclose(file);
  return found;
}

int main(int words, char** word) {
  MPI_Init(&words, &word);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (words != 2) stop("it takes the folder of the steps", "play FOLDER");
  MPI_Comm* groups = groups_in(word[1]);
  char name[32], kind[2];
  snprintf(name, sizeof name, "%d", rank);
  FILE* file = opened(word[1], name);
  int of = 0;
  if (fscanf(file, "%d", &of) != 1 || of != ranks) stop("the steps are of another number of ranks", word[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  while (fscanf(file, "%1s", kind) == 1) {
    double seconds;
    int partners, group, root;
    long bytes;
    if (kind[0] == 'c' && fscanf(file, "%lf", &seconds) == 1)
      compute(seconds);
    else if (kind[0] == 'x' && fscanf(file, "%d", &partners) == 1)
      exchange(file, partners);
    else if (kind[0] == 'g' && fscanf(file, "%31s %ld %d %d", name, &bytes, &group, &root) == 4)
      collective(name, bytes, groups[group], root);
    else
      stop("a step is cut off", "write again");
  }
  const double took = MPI_Wtime() - start;
  double slowest;
  MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.6f s on %d ranks, all messages right\n", slowest, ranks);
  MPI_Finalize();
  return 0;
}
