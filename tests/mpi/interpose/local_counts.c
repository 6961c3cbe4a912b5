/* Collectives in which each rank knows the lengths of its own blocks only. Each call is made by its name, which our
 * object may run, and by the library's own function. Both must write the same bytes and leave the others alone.
 * Lengths change from call to call, and no memory is kept for each. The exit status is the number of failed checks, at
 * most 100. */
#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { alltoallv, alltoallw, gatherv, scatterv, kinds };
static const char* names[] = {"alltoallv", "alltoallw", "gatherv", "scatterv"};
static int rank, failures;

enum { most_ranks = 16 };
/* One side of a call: pairs for, or from, each rank. */
struct side {
  int counts[most_ranks], displacements[most_ranks], bytes[most_ranks]; /* those in elements, these for alltoallw */
  MPI_Datatype type, types[most_ranks];
  int* data;
};
struct call {
  enum kind kind;
  int root, in_place;
  MPI_Comm comm;
  struct side send, receive;
  size_t size;
  MPI_Request request;
};

static int make(struct call* c, int library, int begun) {
  struct side *s = &c->send, *r = &c->receive;
  int me;
  MPI_Comm_rank(c->comm, &me);
  const int at_root = me == c->root;
  void* from = c->in_place ? MPI_IN_PLACE : (void*)s->data;
  switch (c->kind) {
  case alltoallv:
    CALL(Alltoallv, Ialltoallv, from, s->counts, s->displacements, s->type, r->data, r->counts, r->displacements,
         r->type, c->comm);
  case alltoallw:
    CALL(Alltoallw, Ialltoallw, from, s->counts, s->bytes, s->types, r->data, r->counts, r->bytes, r->types, c->comm);
  case gatherv: /* what does not count on this rank may be anything */
    CALL(Gatherv, Igatherv, at_root ? from : (void*)s->data, s->counts[c->root], s->type, at_root ? r->data : NULL,
         at_root ? r->counts : NULL, at_root ? r->displacements : NULL, at_root ? r->type : MPI_DATATYPE_NULL, c->root,
         c->comm);
  default:
    CALL(Scatterv, Iscatterv, at_root ? s->data : NULL, at_root ? s->counts : NULL, at_root ? s->displacements : NULL,
         at_root ? s->type : MPI_DATATYPE_NULL, at_root && c->in_place ? MPI_IN_PLACE : (void*)r->data,
         r->counts[c->root], r->type, c->root, c->comm);
  }
}

/* --- questions */

/* Zeros among them, one huge block, nothing at all, and every second one empty. In place as many back. */
static int pairs(int way, int turn, int from, int to, int ranks, int symmetric) {
  if (symmetric && from > to) return pairs(way, turn, to, from, ranks, 0);
  const unsigned hash = (unsigned)(from * 7919 + to * 104729 + turn * 1299709) % 65521u;
  switch (way) {
  case 0: return hash % 3 == 0 ? 0 : (int)(hash % 60);
  case 1: return from == turn % ranks && to == (turn + 1) % ranks ? 60000 : (int)(hash % 2);
  case 2: return 0;
  default: return (from + to) % 2 ? 0 : 900 + turn % 7;
  }
}
enum { ways = 4 };

/* `layout`: one behind the other, or backwards with holes between them. */
static size_t lay_out(struct side* s, int ranks, int layout, int mixed) {
  int at = layout ? 3 : 0;
  size_t byte = 4 * (size_t)layout;
  for (int k = 0; k < ranks; ++k) {
    const int i = layout ? ranks - 1 - k : k;
    s->displacements[i] = at, at += s->counts[i] + layout;
    s->types[i] = mixed && (i + rank) % 2 ? spread_pair : pair;
    s->bytes[i] = (int)byte;
    byte += (size_t)s->counts[i] * (s->types[i] == pair ? 2 : spread) * sizeof(int) + 8 * (size_t)layout;
#ifdef MPICH /* which asks no type of an empty block; Open MPI refuses this one */
    if (s->counts[i] == 0) s->types[i] = MPI_DATATYPE_NULL;
#endif
  }
  return (size_t)(at + 1) * spread * sizeof(int) + byte;
}

static struct call question(enum kind kind, int way, int turn, int in_place, MPI_Comm comm) {
  struct call c = {kind, 0, in_place, comm};
  int ranks, me;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &me);
  c.root = turn % ranks;
  const int symmetric = in_place && kind <= alltoallw;
  for (int i = 0; i < ranks; ++i) {
    const int other = kind == gatherv || kind == scatterv ? c.root : me; /* at the root, of each rank */
    c.send.counts[i] =
        kind == gatherv ? pairs(way, turn, me, c.root, ranks, 0) : pairs(way, turn, other, i, ranks, symmetric);
    c.receive.counts[i] =
        kind == scatterv ? pairs(way, turn, c.root, me, ranks, 0) : pairs(way, turn, i, other, ranks, symmetric);
  }
  c.send.type = turn % 3 == 1 && rank % 2 ? spread_pair : pair;
  c.receive.type = turn % 3 == 2 && rank % 2 == 0 ? spread_pair : pair;
  if (symmetric) c.send.type = c.receive.type;
  const size_t sent = lay_out(&c.send, ranks, turn / 2 % 2, turn % 2),
               received = lay_out(&c.receive, ranks, turn / 3 % 2, turn % 2);
  c.size = sent > received ? sent : received;
  return c;
}

struct asked {
  struct call ours, theirs;
};
static void prepare(struct asked* a, int turn) {
  a->theirs = a->ours;
  struct call* both[] = {&a->ours, &a->theirs};
  for (int i = 0; i < 2; ++i) {
    int *from = both[i]->send.data = malloc(both[i]->size), *to = both[i]->receive.data = malloc(both[i]->size);
    for (size_t k = 0; k < both[i]->size / sizeof(int); ++k) {
      from[k] = (int)((k * 37 + (size_t)(rank * 1001 + turn * 7)) % 9973);
      to[k] = (int)((k * 53 + (size_t)(rank * 517 + turn)) % 9967);
    }
  }
}

static void compare(struct asked* a, const char* how) {
  const int right = memcmp(a->ours.receive.data, a->theirs.receive.data, a->ours.size) == 0;
  const int kept = memcmp(a->ours.send.data, a->theirs.send.data, a->ours.size) == 0;
  if ((!right || !kept) && failures++ < 5)
    fprintf(stderr, "rank %d: %s %s, root %d, %s: %s\n", rank, how, names[a->ours.kind], a->ours.root,
            a->ours.in_place ? "in place" : "not in place", right ? "its input was changed" : "other bytes");
  free(a->ours.send.data), free(a->ours.receive.data), free(a->theirs.send.data), free(a->theirs.receive.data);
}

static void ask(struct call c, int turn, int begun) {
  struct asked a = {c};
  prepare(&a, turn);
  int code = make(&a.ours, 0, begun);
  if (begun && turn % 3 == 0) { /* blocking ones behind it, one of the same kind */
    int in = 1, out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, c.comm);
    struct asked other = {question(c.kind, 0, turn + 1, 0, c.comm)};
    prepare(&other, turn + 1);
    code |= make(&other.ours, 0, 0) | make(&other.theirs, 1, 0);
    compare(&other, "behind another");
  }
  if (begun) MPI_Wait(&a.ours.request, MPI_STATUS_IGNORE);
  code |= make(&a.theirs, 1, 0);
  if (code != MPI_SUCCESS && failures++ < 5) fprintf(stderr, "rank %d: %s: an error\n", rank, names[c.kind]);
  compare(&a, begun ? "begun" : "blocking");
}

static void of_all_kinds(MPI_Comm comm, int begun) {
  int ranks;
  MPI_Comm_size(comm, &ranks);
  for (int turn = 0; turn < 12; ++turn)
    for (int way = 0; way < ways; ++way)
      for (enum kind k = 0; k < kinds; ++k)
        for (int in_place = 0; in_place < 2; ++in_place) /* on one rank Open MPI 4.1 moves nothing by MPI_Alltoallw */
          if (ranks > 1 || k != alltoallw) ask(question(k, way, turn, in_place, comm), turn, begun);
}

/* Of one kind and several, waited for in another order. */
static void at_the_same_time(MPI_Comm comm) {
  enum { many = 12 };
  int ranks;
  MPI_Comm_size(comm, &ranks);
  if (ranks == 1) return;
  struct asked all[many];
  MPI_Request requests[many];
  for (int turn = 0; turn < 4; ++turn) {
    for (int i = 0; i < many; ++i) {
      all[i].ours = question(turn % 2 ? (enum kind)(i % kinds) : alltoallv, i % ways, 10 * turn + i, 0, comm);
      prepare(&all[i], i);
    }
    for (int i = 0; i < many; ++i) make(&all[i].ours, 0, 1);
    for (int i = 0; i < many; ++i) requests[i] = all[many - 1 - i].ours.request;
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < many; ++i) make(&all[i].theirs, 1, 0), compare(&all[i], "beside others");
  }
}

/* A plan a length would take some kilobytes each. */
static void lengths_take_no_memory(MPI_Comm comm) {
  long before = 0, after = 0;
  for (int turn = 0; turn < 6000; ++turn) {
    struct call c = question((enum kind)(turn % kinds), 0, turn, 0, comm);
    c.send.data = malloc(c.size), c.receive.data = malloc(c.size);
    make(&c, 0, 0);
    free(c.send.data), free(c.receive.data);
    if (turn != 2000 && turn != 5999) continue;
    FILE* file = fopen("/proc/self/statm", "r");
    long pages = 0, resident = 0;
    if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    if (file) fclose(file);
    *(turn == 2000 ? &before : &after) = resident * (sysconf(_SC_PAGESIZE) >> 10);
  }
  if (after - before > 4096 && failures++ < 5)
    fprintf(stderr, "rank %d: %ld KiB more after 4000 calls of other lengths\n", rank, after - before);
}

/* Counts of 64 bits, where the library has them. */
static void of_large_counts(void) {
#if MPI_VERSION >= 4 && defined(MPICH)
  int ranks, in[3 * most_ranks], out[3 * most_ranks];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Count send[most_ranks], receive[most_ranks];
  MPI_Aint sent[most_ranks], received[most_ranks];
  for (int i = 0; i < ranks; ++i) {
    send[i] = (rank + i) % 3, receive[i] = (rank + i) % 3, sent[i] = 3 * i, received[i] = 3 * (ranks - 1 - i);
    for (int k = 0; k < 3; ++k) in[3 * i + k] = 100 * rank + 10 * i + k, out[3 * i + k] = -1;
  }
  MPI_Alltoallv_c(in, send, sent, MPI_INT, out, receive, received, MPI_INT, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < 3; ++k)
      right &= out[3 * (ranks - 1 - i) + k] == (k < (rank + i) % 3 ? 100 * i + 10 * rank + k : -1);
  if (!right && failures++ < 5) fprintf(stderr, "rank %d: large counts\n", rank);
#endif
}

/* Three ints for each rank, which say from whom and for whom they are. */
struct marked {
  int in[3 * most_ranks], out[3 * most_ranks];
};
static void mark(struct marked* m, int me, int ranks) {
  for (int i = 0; i < 3 * ranks; ++i) m->in[i] = 100 * me + 10 * (i / 3) + i % 3, m->out[i] = -1;
}
static void check_marked(const struct marked* m, int me, int ranks, const char* of) {
  int right = 1;
  for (int i = 0; i < 3 * ranks; ++i) right &= m->out[i] == 100 * (i / 3) + 10 * me + i % 3;
  if (!right && failures++ < 5) fprintf(stderr, "rank %d: alltoall %s: other bytes\n", rank, of);
}

/* Blocks before the address, of a type whose own ints lie before it, and of one that holds absolute addresses. */
static void of_other_places(void) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int before = -3 * (int)sizeof(int), all_three = 3;
  MPI_Datatype three_before, at[2][most_ranks];
  MPI_Type_indexed(1, &all_three, (const int[]){-3}, MPI_INT, &three_before);
  MPI_Type_commit(&three_before);
  struct marked m;
  int ones[most_ranks], three[most_ranks], backwards[most_ranks], forwards[most_ranks], zeros[most_ranks] = {0};
  for (int i = 0; i < ranks; ++i) {
    ones[i] = 1, three[i] = 3, forwards[i] = i + 1, backwards[i] = -3 * (ranks - i);
    MPI_Aint address;
    for (int way = 0; way < 2; ++way) {
      MPI_Get_address((way ? m.out : m.in) + 3 * i, &address);
      MPI_Type_create_hindexed(1, &all_three, &address, MPI_INT, &at[way][i]);
      MPI_Type_commit(&at[way][i]);
    }
  }
  MPI_Aint lower, extent;
  MPI_Type_get_extent(three_before, &lower, &extent);
  if (lower != before && failures++ < 5) fprintf(stderr, "rank %d: a lower bound of %ld\n", rank, (long)lower);
  for (int begun = 0; begun < 2; ++begun) {
    MPI_Request request = MPI_REQUEST_NULL;
    mark(&m, rank, ranks);
    if (begun)
      MPI_Ialltoallv(m.in + 3 * ranks, three, backwards, MPI_INT, m.out, ones, forwards, three_before, MPI_COMM_WORLD,
                     &request);
    else
      MPI_Alltoallv(m.in + 3 * ranks, three, backwards, MPI_INT, m.out, ones, forwards, three_before, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_marked(&m, rank, ranks, "of blocks before the address");
    if (ranks == 1) continue; /* Open MPI 4.1 moves nothing by MPI_Alltoallw */
    mark(&m, rank, ranks);
    if (begun)
      MPI_Ialltoallw(MPI_BOTTOM, ones, zeros, at[0], MPI_BOTTOM, ones, zeros, at[1], MPI_COMM_WORLD, &request);
    else
      MPI_Alltoallw(MPI_BOTTOM, ones, zeros, at[0], MPI_BOTTOM, ones, zeros, at[1], MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_marked(&m, rank, ranks, "of absolute addresses");
  }
  for (int i = 0; i < 2 * ranks; ++i) MPI_Type_free(&at[i % 2][i / 2]);
  MPI_Type_free(&three_before);
}

/* A type and a communicator that are freed before the call is complete. */
static void of_what_is_freed(void) {
  int ranks, three[most_ranks], ones[most_ranks], at[most_ranks], nth[most_ranks];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) three[i] = 3, ones[i] = 1, at[i] = 3 * i, nth[i] = i;
  for (int turn = 0; turn < 20; ++turn) {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request requests[2];
    struct marked m[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 2; ++i) {
      mark(&m[i], rank, ranks);
      MPI_Alltoallv(m[i].in, three, at, MPI_INT, m[i].out, three, at, MPI_INT, comm); /* sets up what it may */
      mark(&m[i], rank, ranks);
    }
    for (int i = 0; i < 2; ++i)
      MPI_Ialltoallv(m[i].in, three, at, MPI_INT, m[i].out, ones, nth, type, comm, &requests[i]);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) check_marked(&m[i], rank, ranks, "of what is freed");
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  make_types();
  for (int begun = 0; begun < 2; ++begun) of_all_kinds(MPI_COMM_WORLD, begun);
  at_the_same_time(MPI_COMM_WORLD);
  of_large_counts();
  of_other_places();
  of_what_is_freed();
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, -rank, &part); /* backwards, and rank 0 by itself */
  of_all_kinds(part, 1);                                           /* the first ones before anything is set up */
  of_all_kinds(part, 0);
  MPI_Comm_free(&part);
  lengths_take_no_memory(MPI_COMM_WORLD);
  MPI_Type_free(&pair);
  MPI_Type_free(&spread_pair);
  int all = 0;
  LIBRARY(Allreduce, &failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("%s: %d failures\n", all == 0 ? "good" : "bad", all);
  return all < 100 ? all : 100;
}
