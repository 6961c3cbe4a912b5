/* Plays the steps of a workload on real MPI: mpicc -O2 -o play play.c && mpirun -n P ./play steps [ROUNDS]

   Written by `kumihimo workload --program`. Each rank reads steps/RANK: lines of
       c SECONDS                            compute so long
       x N  then N times: PARTNER SENT RECEIVED    exchange messages, bytes
       g COLLECTIVE BYTES GROUP ROOT        as `kumihimo workload` shows them; group 0: all ranks
   and steps/groups: their number, and a line "N RANK ..." for each group from 1 on. What comes is checked: its length,
   and its first and last byte, which name the sender. Prints the time of the slowest rank. With ROUNDS it plays the
   communication alone, without what is computed, once and then so many times; it prints a JSON object for each round:
   the time of the slowest rank, and the mean time of a rank in each kind of step. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_KINDS 8

static int rank, ranks, is_bench;
static char *out, *in; /* for all messages of a step */
static size_t out_bytes, in_bytes;

struct step {
  char kind; /* as in the file */
  double seconds;
  int partners, *partner;
  long *sent, *received;
  char collective[32];
  long bytes;
  int group, root;
};

static void stop(const char* what, const char* where) {
  if (is_bench)
    printf("{\"error\": {\"kind\": \"failed\", \"problem\": \"rank %d: %s (%s)\"}}\n", rank, what, where),
        fflush(stdout);
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

static void* array(size_t count, size_t each) {
  void* found = malloc(count * each + 1);
  if (found == NULL) stop("no memory for the steps", "take fewer of them");
  return found;
}

static MPI_Request* requests;
static MPI_Status* statuses;

static void exchange(const struct step* of) {
  size_t to = 0, from = 0;
  for (int i = 0; i < of->partners; ++i) to += of->sent[i], from += of->received[i];
  out = room(out, &out_bytes, to + 1), in = room(in, &in_bytes, from + 1);
  from = 0;
  for (int i = 0; i < of->partners; from += of->received[i++])
    in[from] = in[from + (of->received[i] > 0 ? of->received[i] - 1 : 0)] = 0,
    MPI_Irecv(in + from, (int)of->received[i], MPI_BYTE, of->partner[i], 0, MPI_COMM_WORLD, &requests[i]);
  to = 0;
  for (int i = 0; i < of->partners; to += of->sent[i++]) {
    if (of->sent[i] > 0) out[to] = out[to + of->sent[i] - 1] = mark(rank);
    MPI_Isend(out + to, (int)of->sent[i], MPI_BYTE, of->partner[i], 0, MPI_COMM_WORLD, &requests[of->partners + i]);
  }
  MPI_Waitall(2 * of->partners, requests, statuses);
  from = 0;
  for (int i = 0; i < of->partners; from += of->received[i++]) {
    int count;
    const char want = mark(of->partner[i]);
    MPI_Get_count(&statuses[i], MPI_BYTE, &count);
    if (count != of->received[i]) stop("a message has another length", "exchange");
    if (count > 0 && (in[from] != want || in[from + count - 1] != want)) stop("a message has wrong bytes", "exchange");
  }
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

/* The steps of this rank; `most`: of partners in one. */
static struct step* steps_in(const char* folder, int* many, int* most) {
  char name[32], kind[2];
  snprintf(name, sizeof name, "%d", rank);
  FILE* file = opened(folder, name);
  int of = 0, room_for = 64;
  if (fscanf(file, "%d", &of) != 1 || of != ranks) stop("the steps are of another number of ranks", folder);
  struct step* steps = array(room_for, sizeof *steps);
  for (*many = *most = 0; fscanf(file, "%1s", kind) == 1; ++*many) {
    if (*many == room_for && (steps = realloc(steps, sizeof *steps * (room_for *= 2))) == NULL)
      stop("no memory for the steps", "take fewer of them");
    struct step* next = &steps[*many];
    next->kind = kind[0];
    if (kind[0] == 'x' && fscanf(file, "%d", &next->partners) == 1) {
      next->partner = array(next->partners, sizeof(int));
      next->sent = array(next->partners, sizeof(long)), next->received = array(next->partners, sizeof(long));
      for (int i = 0; i < next->partners; ++i)
        if (fscanf(file, "%d %ld %ld", &next->partner[i], &next->sent[i], &next->received[i]) != 3)
          stop("a step is cut off", "write again");
      if (next->partners > *most) *most = next->partners;
    } else if (!(kind[0] == 'c' && fscanf(file, "%lf", &next->seconds) == 1) &&
               !(kind[0] == 'g' &&
                 fscanf(file, "%31s %ld %d %d", next->collective, &next->bytes, &next->group, &next->root) == 4)) {
      stop("a step is cut off", "write again");
    }
  }
  fclose(file);
  return steps;
}

/* The collectives that play.c knows come first, so that all ranks number them alike. */
static const char* const kinds[MOST_KINDS] = {"exchange", "allreduce", "bcast", "allgather", "alltoall"};

static int kind_of(const struct step* step) {
  if (step->kind == 'x') return 0;
  for (int i = 1; i < MOST_KINDS && kinds[i]; ++i)
    if (strcmp(kinds[i], step->collective) == 0) return i;
  stop("an unknown collective", step->collective);
  return 0;
}

/* The time of the slowest rank, at rank 0. `spent`: of this rank, by kind of step. */
static double round_of(const struct step* steps, int many, MPI_Comm* groups, double* spent) {
  double slowest;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < many; ++i) {
    const double before = is_bench ? MPI_Wtime() : 0;
    if (steps[i].kind == 'c') {
      if (!is_bench) compute(steps[i].seconds);
      continue;
    }
    if (steps[i].kind == 'x')
      exchange(&steps[i]);
    else
      collective(steps[i].collective, steps[i].bytes, groups[steps[i].group], steps[i].root);
    if (is_bench) spent[kind_of(&steps[i])] += MPI_Wtime() - before;
  }
  const double took = MPI_Wtime() - start;
  MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest;
}

static void bench(const struct step* steps, int many, MPI_Comm* groups, int rounds) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, "\n\"\\")] = '\0';
  for (char* at = version; *at; ++at)
    if (*at < ' ') *at = ' '; /* tabs of MPICH */
  if (rank == 0) printf("{\"about\": {\"mpi\": \"%s\", \"ranks\": %d}}\n", version, ranks), fflush(stdout);
  for (int round = -1; round < rounds; ++round) {
    double spent[MOST_KINDS] = {0}, sums[MOST_KINDS];
    const double slowest = round_of(steps, many, groups, spent);
    MPI_Reduce(spent, sums, MOST_KINDS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0 || round < 0) continue; /* the first one warms up */
    printf("{\"seconds\": %.9f, \"steps\": {", slowest);
    const char* comma = "";
    for (int i = 0; i < MOST_KINDS && kinds[i]; ++i)
      if (sums[i] > 0) printf("%s\"%s\": %.9f", comma, kinds[i], sums[i] / ranks), comma = ", ";
    printf("}}\n"), fflush(stdout);
  }
}

int main(int words, char** word) {
  MPI_Init(&words, &word);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = words == 3 ? atoi(word[2]) : 0;
  is_bench = rounds > 0;
  if (words != 2 && !is_bench) stop("it takes the folder of the steps, and a number of rounds", "play FOLDER [ROUNDS]");
  MPI_Comm* groups = groups_in(word[1]);
  int many, most;
  struct step* steps = steps_in(word[1], &many, &most);
  requests = array(2 * most, sizeof *requests), statuses = array(2 * most, sizeof *statuses);
  if (is_bench) {
    bench(steps, many, groups, rounds);
  } else {
    const double slowest = round_of(steps, many, groups, NULL);
    if (rank == 0) printf("%.6f s on %d ranks, all messages right\n", slowest, ranks);
  }
  MPI_Finalize();
  return 0;
}
