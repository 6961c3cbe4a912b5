/* Neighbour collectives on grids and graphs. Each call is made by its name, which our object may run, and by the
 * library's own function. Both must leave the same bytes. Lengths change from call to call. If even
 * ranks have odd neighbours only, the two kinds send blocks of other lengths, also in the forms with equal blocks.
 * The exit status is the number of failed checks, at most 100. */
#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { allgather, allgatherv, alltoall, alltoallv, alltoallw, kinds };
static const char* names[] = {"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"};
static int rank, failures;
enum { most = 16 };
struct neighbours {
  MPI_Comm comm;
  int in, out, sources[most], destinations[most];
  int alternate; /* even ranks have odd neighbours alone */
};
struct side {
  int counts[most], displacements[most];
  MPI_Aint bytes[most];
  MPI_Datatype type, types[most];
  int* data;
};
struct call {
  enum kind kind;
  MPI_Comm comm;
  struct side send, receive;
  MPI_Request request;
};

static int make(struct call* c, int library, int begun) {
  struct side *s = &c->send, *r = &c->receive;
  switch (c->kind) {
  case allgather:
    CALL(Neighbor_allgather, Ineighbor_allgather, s->data, s->counts[0], s->type, r->data, r->counts[0], r->type,
         c->comm);
  case allgatherv:
    CALL(Neighbor_allgatherv, Ineighbor_allgatherv, s->data, s->counts[0], s->type, r->data, r->counts,
         r->displacements, r->type, c->comm);
  case alltoall:
    CALL(Neighbor_alltoall, Ineighbor_alltoall, s->data, s->counts[0], s->type, r->data, r->counts[0], r->type,
         c->comm);
  case alltoallv:
    CALL(Neighbor_alltoallv, Ineighbor_alltoallv, s->data, s->counts, s->displacements, s->type, r->data, r->counts,
         r->displacements, r->type, c->comm);
  default:
    CALL(Neighbor_alltoallw, Ineighbor_alltoallw, s->data, s->counts, s->bytes, s->types, r->data, r->counts, r->bytes,
         r->types, c->comm);
  }
}

static int pairs(int turn, int from, int to) {
  if (from < 0 || to < 0) return 2; /* of nobody: a block that stays as it is */
  const unsigned hash = (unsigned)(from * 7919 + to * 104729 + turn * 1299709) % 65521u;
  return turn % 5 == 4 ? 0 : turn % 5 == 3 && from == 0 ? 20000 : (from + turn) % 3 == 0 ? 0 : (int)(hash % 70);
}

/* One behind the other, or backwards with holes. */
static size_t lay_out(struct side* s, int blocks, int apart) {
  int at = apart ? 3 : 0;
  MPI_Aint byte = 4 * apart;
  for (int k = 0; k < blocks; ++k) {
    const int i = apart ? blocks - 1 - k : k;
    s->displacements[i] = at, at += s->counts[i] + apart;
    s->types[i] = (i + rank) % 2 ? spread_pair : pair;
    s->bytes[i] = byte;
    byte += (MPI_Aint)s->counts[i] * (s->types[i] == pair ? 2 : spread) * (MPI_Aint)sizeof(int) + 8 * apart;
#ifdef MPICH /* which asks no type of an empty block; Open MPI refuses this one */
    if (s->counts[i] == 0) s->types[i] = MPI_DATATYPE_NULL;
#endif
  }
  return (size_t)(at + 1) * spread * sizeof(int) + (size_t)byte;
}

struct asked {
  struct call ours, theirs;
  size_t size;
};
static struct asked question(const struct neighbours* n, enum kind kind, int turn) {
  struct asked a = {{kind, n->comm}};
  struct call* c = &a.ours;
  const int equal = kind == allgather || kind == alltoall, one = kind == allgather || kind == allgatherv;
#ifdef MPICH
  const int may_differ = 1;
#else /* Open MPI 4.1 takes it for an error that a rank's own two lengths of MPI_Neighbor_alltoall differ */
  const int may_differ = kind == allgather;
#endif
  const int more = n->alternate && may_differ && turn > 0 ? 3 : 0;
  const int sent_each = turn * 7 + more * (rank % 2), received_each = turn * 7 + more * ((rank + 1) % 2);
  for (int i = 0; i < most; ++i) { /* the first says it, where all are equal */
    c->send.counts[i] = equal        ? sent_each
                        : one        ? pairs(turn, rank, 0)
                        : i < n->out ? pairs(turn, rank, n->destinations[i])
                                     : 0;
    c->receive.counts[i] = equal                       ? received_each
                           : i >= n->in                ? 0
                           : one && n->sources[i] >= 0 ? pairs(turn, n->sources[i], 0)
                                                       : pairs(turn, n->sources[i], rank);
  }
  c->send.type = turn % 3 == 1 && rank % 2 ? spread_pair : pair;
  c->receive.type = turn % 3 == 2 ? spread_pair : pair;
  const size_t sent = lay_out(&c->send, one ? 1 : n->out, equal ? 0 : turn % 2),
               received = lay_out(&c->receive, n->in, equal ? 0 : turn / 2 % 2);
  a.size = sent > received ? sent : received;
  a.theirs = a.ours;
  struct call* both[] = {&a.ours, &a.theirs};
  for (int i = 0; i < 2; ++i) {
    int *from = both[i]->send.data = malloc(a.size), *to = both[i]->receive.data = malloc(a.size);
    for (size_t k = 0; k < a.size / sizeof(int); ++k) {
      from[k] = (int)((k * 37 + (size_t)(rank * 1001 + turn * 7)) % 9973);
      to[k] = (int)((k * 53 + (size_t)(rank * 517 + turn)) % 9967);
    }
  }
  return a;
}

static void compare(struct asked* a, const char* of, const char* how) {
  const int right = memcmp(a->ours.receive.data, a->theirs.receive.data, a->size) == 0;
  const int kept = memcmp(a->ours.send.data, a->theirs.send.data, a->size) == 0;
  if ((!right || !kept) && failures++ < 5)
    fprintf(stderr, "rank %d: %s neighbor_%s on %s: %s\n", rank, how, names[a->ours.kind], of,
            right ? "its input was changed" : "other bytes");
  free(a->ours.send.data), free(a->ours.receive.data), free(a->theirs.send.data), free(a->theirs.receive.data);
}

static void of_all_kinds(const struct neighbours* n, const char* of, int kinds) {
  MPI_Barrier(n->comm);
  for (int begun = 0; begun < 2; ++begun)
    for (int turn = 0; turn < 10; ++turn)
      for (enum kind k = 0; k < kinds; ++k) {
        struct asked a = question(n, k, turn);
        int code = make(&a.ours, 0, begun);
        if (begun) MPI_Wait(&a.ours.request, MPI_STATUS_IGNORE);
        code |= make(&a.theirs, 1, 0);
        if (code != MPI_SUCCESS && failures++ < 5) fprintf(stderr, "rank %d: neighbor_%s: an error\n", rank, names[k]);
        compare(&a, of, begun ? "begun" : "blocking");
      }
  struct asked several[kinds];
  MPI_Request requests[kinds];
  for (enum kind k = 0; k < kinds; ++k) several[k] = question(n, k, 6), make(&several[k].ours, 0, 1);
  for (int k = 0; k < kinds; ++k) requests[k] = several[kinds - 1 - k].ours.request;
  MPI_Waitall(kinds, requests, MPI_STATUSES_IGNORE);
  for (enum kind k = 0; k < kinds; ++k) make(&several[k].theirs, 1, 0), compare(&several[k], of, "beside others");
}

static void on_axes(int axes, const int* lengths, const int* periodic, int alternate, const char* name) {
  struct neighbours n = {MPI_COMM_NULL};
  n.alternate = alternate;
  MPI_Cart_create(MPI_COMM_WORLD, axes, lengths, periodic, axes > 1, &n.comm); /* perhaps in another order */
  if (n.comm == MPI_COMM_NULL) return;
  MPI_Comm_rank(n.comm, &rank);
  for (int a = 0; a < axes; ++a) {
    MPI_Cart_shift(n.comm, a, 1, &n.sources[2 * a], &n.sources[2 * a + 1]);
    n.destinations[2 * a] = n.sources[2 * a], n.destinations[2 * a + 1] = n.sources[2 * a + 1];
  }
  n.in = n.out = 2 * axes;
  for (int i = 0; i < n.in; ++i) {
    if (n.sources[i] == MPI_PROC_NULL) n.sources[i] = -1;
    if (n.destinations[i] == MPI_PROC_NULL) n.destinations[i] = -1;
  }
  of_all_kinds(&n, name, kinds);
  MPI_Comm_free(&n.comm);
}

/* To the next, and from every lower rank to the last, which has no destination of its own. */
static void on_a_graph(int ranks) {
  struct neighbours n = {MPI_COMM_NULL};
  for (int to = rank + 1; to < ranks && to <= rank + 1; ++to) n.destinations[n.out++] = to;
  if (rank < ranks - 2) n.destinations[n.out++] = ranks - 1;
  if (rank == ranks - 1)
    for (int from = ranks - 2; from >= 0; --from) n.sources[n.in++] = from;
  else if (rank > 0)
    n.sources[n.in++] = rank - 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n.in, n.sources, MPI_UNWEIGHTED, n.out, n.destinations, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &n.comm);
#ifdef MPICH /* 4.0 moves nothing by MPI_Neighbor_alltoallw to a rank that sends nothing */
  of_all_kinds(&n, "a graph", alltoallw);
#else
  of_all_kinds(&n, "a graph", kinds);
#endif
  MPI_Comm_free(&n.comm);
}

/* All beside rank 0, by the lists of MPI 1: each is said by both. */
static void on_a_star(int ranks) {
  int ends[most], edges[2 * most], lists = 0;
  for (int i = 0; i < ranks; ++i) {
    for (int k = 1; i == 0 && k < ranks; ++k) edges[lists++] = k;
    if (i > 0) edges[lists++] = 0;
    ends[i] = lists;
  }
  struct neighbours n = {MPI_COMM_NULL};
  MPI_Graph_create(MPI_COMM_WORLD, ranks, ends, edges, 0, &n.comm);
  MPI_Graph_neighbors_count(n.comm, rank, &n.in);
  MPI_Graph_neighbors(n.comm, rank, n.in, n.sources);
  n.out = n.in;
  memcpy(n.destinations, n.sources, sizeof n.sources);
  of_all_kinds(&n, "a star", kinds);
  MPI_Comm_free(&n.comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks, me;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  me = rank;
  make_types();
  const int ring[] = {ranks}, closed[] = {1, 0}, open[] = {0, 1};
#ifdef MPICH /* 4.0 pairs the blocks of a neighbour on both sides in two ways, whichever the call */
  const int twice = 0;
#else
  const int twice = 1;
#endif
  if (ranks > 2 || twice) on_axes(1, ring, closed, ranks % 2 == 0, "a ring");
  on_axes(1, ring, open, 1, "a line");
  const int grid[] = {ranks % 2 ? ranks : ranks / 2, ranks % 2 ? 1 : 2};
  if (twice) on_axes(2, grid, open, 0, "a grid");
  rank = me;
  on_a_graph(ranks);
  if (ranks > 1) on_a_star(ranks);
  MPI_Type_free(&pair);
  MPI_Type_free(&spread_pair);
  int all = 0;
  LIBRARY(Allreduce, &failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (me == 0) printf("%s: %d failures\n", all == 0 ? "good" : "bad", all);
  return all < 100 ? all : 100;
}
