/* Topologies whose ranks may be reordered. Whatever the order, the topology must be the one that was asked for: rank i
 * has the coordinates or the lists of node i, and its messages arrive where the topology says.
 *
 *   reorder reverse    the order must be reversed
 *   reorder same       the order must be as it was
 *   reorder shape      the job has two nodes, the first half of the ranks on one: fewer edges must be cut
 *   reorder names      the same, on nodes that MPI_Get_processor_name tells apart
 *   reorder packages   as shape, and on each node ranks of odd numbers in another package: the fewest edges between
 * them reorder spoiled    one wrong entry in any list of a graph is found by the checks here
 *
 * The exit status is the number of failed checks, at most 100. */
#include "library_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 64 };
static int world_rank, world_ranks, failures;
static int is_reverse, is_same, finds_better, by_name, has_packages;
static int spoils = -1; /* the list of which this rank reads a wrong entry */

static const char* mode = "";

static void check(int right, const char* what) {
  if (!right && failures++ < 5 && strcmp(mode, "spoiled") != 0) fprintf(stderr, "rank %d: %s\n", world_rank, what);
}

/* The order of the new communicator; returns this process's rank in it. `old`: the rank before. */
static int rank_in(MPI_Comm made, int old, const char* what) {
  int rank, ranks;
  MPI_Comm_rank(made, &rank);
  MPI_Comm_size(made, &ranks);
  if (is_reverse) check(rank == ranks - 1 - old, what);
  if (is_same) check(rank == old, what);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made); /* it is a communicator like others */
  check(sum == ranks * (ranks - 1) / 2, "a wrong sum");
  return rank;
}

/* ---- grids ---- */

static int place_of(int axes, const int* lengths, const int* periods, const int* from, int axis, int step) {
  int at[3];
  memcpy(at, from, sizeof(int) * (size_t)axes);
  at[axis] += step;
  if (at[axis] < 0 || at[axis] >= lengths[axis]) {
    if (!periods[axis]) return MPI_PROC_NULL;
    at[axis] = (at[axis] + lengths[axis]) % lengths[axis];
  }
  int place = 0;
  for (int a = 0; a < axes; ++a) place = place * lengths[a] + at[a];
  return place;
}

static void check_grid(MPI_Comm grid, int rank, int axes, const int* lengths, const int* periods) {
  int found_lengths[3], found_periods[3], at[3], mine[3], rest = rank;
  for (int a = axes - 1; a >= 0; --a) mine[a] = rest % lengths[a], rest /= lengths[a];
  MPI_Cart_get(grid, axes, found_lengths, found_periods, at);
  check(memcmp(at, mine, sizeof(int) * (size_t)axes) == 0, "wrong coordinates");
  check(memcmp(found_lengths, lengths, sizeof(int) * (size_t)axes) == 0, "wrong lengths");
  for (int a = 0; a < axes; ++a) check(!found_periods[a] == !periods[a], "wrong periods");
  int got[6], expected[6];
  for (int i = 0; i < 6; ++i) got[i] = -7;
  for (int a = 0; a < axes; ++a) {
    int before, after, wrong = -7;
    MPI_Cart_shift(grid, a, 1, &before, &after);
    expected[2 * a] = place_of(axes, lengths, periods, mine, a, -1);
    expected[2 * a + 1] = place_of(axes, lengths, periods, mine, a, 1);
    check(before == expected[2 * a] && after == expected[2 * a + 1], "wrong neighbours by MPI_Cart_shift");
    MPI_Sendrecv(&rank, 1, MPI_INT, after, a, &wrong, 1, MPI_INT, before, a, grid, MPI_STATUS_IGNORE);
    check(wrong == (before == MPI_PROC_NULL ? -7 : before), "a message from another place");
  }
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, grid);
  for (int i = 0; i < 2 * axes; ++i)
    check(got[i] == (expected[i] == MPI_PROC_NULL ? -7 : expected[i]), "a wrong neighbour in a collective");
  /* Lines along the last axis. */
  int keeps[3] = {0, 0, 0}, line_rank, line[most];
  keeps[axes - 1] = 1;
  MPI_Comm sub;
  MPI_Cart_sub(grid, keeps, &sub);
  MPI_Comm_rank(sub, &line_rank);
  check(line_rank == mine[axes - 1], "a wrong rank in MPI_Cart_sub");
  MPI_Allgather(&rank, 1, MPI_INT, line, 1, MPI_INT, sub);
  for (int i = 0; i < lengths[axes - 1]; ++i)
    check(line[i] == rank - mine[axes - 1] + i, "a wrong process in MPI_Cart_sub");
  MPI_Comm_free(&sub);
}

static void on_grid(MPI_Comm comm, int axes, const int* lengths, const int* periods) {
  int old, places = 1;
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Comm_rank(comm, &old);
  for (int a = 0; a < axes; ++a) places *= lengths[a];
  MPI_Cart_create(comm, axes, lengths, periods, 1, &grid);
  check((grid == MPI_COMM_NULL) == (old >= places), "the wrong processes have a grid");
  if (grid == MPI_COMM_NULL) return;
  check_grid(grid, rank_in(grid, old, "a grid in a wrong order"), axes, lengths, periods);
  MPI_Comm_free(&grid);
}

static void on_grids(MPI_Comm comm) {
  int n;
  MPI_Comm_size(comm, &n);
  const int two = n % 2 == 0 ? 2 : 1, four = n % 4 == 0 ? 2 : 1;
  const int one[] = {n}, flat[] = {n / two, two}, box[] = {two, n / two / four, four}, part[] = {n - 1};
  for (int periodic = 0; periodic < 8; ++periodic) {
    const int periods[] = {periodic & 1, periodic >> 1 & 1, periodic >> 2};
    if (periodic < 2) on_grid(comm, 1, one, periods);
    if (periodic < 2 && n > 2) on_grid(comm, 1, part, periods);
    if (periodic < 4) on_grid(comm, 2, flat, periods);
    on_grid(comm, 3, box, periods);
  }
}

/* ---- graphs ---- */

struct lists {
  int in, out, sources[most], in_weights[most], destinations[most], out_weights[most];
};
enum graph { ring, star, mixed, lonely, any, graphs = any + 12 }; /* from any on: random ones */

/* The number of edges from one node to another. */
static int edges(enum graph graph, int from, int to, int n) {
  switch (graph) {
  case ring: return to == (from + 1) % n || from == (to + 1) % n;
  case star: return from == 0 && to != 0;                      /* lists of different lengths, and empty ones */
  case mixed: return from == to ? 1 : (from * 3 + to * 5) % 3; /* itself, twice the same, and in one direction */
  case lonely: return from == n - 1 && to == 0;
  default: return (unsigned)((graph * 64 + from) * 64 + to) * 2654435761u >> 29 & (graph % 2 ? 3 : 1);
  }
}
static int weight(int from, int to, int copy) { return 1 + from * 7 + to * 3 + copy; }

static struct lists lists_of(enum graph graph, int node, int n) {
  struct lists all = {0, 0};
  for (int other = n - 1; other >= 0; --other) {
    for (int copy = 0; copy < edges(graph, other, node, n); ++copy)
      all.sources[all.in] = other, all.in_weights[all.in++] = weight(other, node, copy);
    for (int copy = 0; copy < edges(graph, node, other, n); ++copy)
      all.destinations[all.out] = other, all.out_weights[all.out++] = weight(node, other, copy);
  }
  return all;
}

static int by_number(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

static void same_list(int count, const int* found, const int* expected, int in_order, const char* what) {
  int a[most], b[most];
  memcpy(a, found, sizeof(int) * (size_t)count), memcpy(b, expected, sizeof(int) * (size_t)count);
  if (!in_order) qsort(a, (size_t)count, sizeof(int), by_number), qsort(b, (size_t)count, sizeof(int), by_number);
  check(memcmp(a, b, sizeof(int) * (size_t)count) == 0, what);
}

static void check_graph(MPI_Comm made, enum graph graph, int rank, int is_weighted, int in_order) {
  int n, in, out, weighted;
  struct lists found;
  MPI_Comm_size(made, &n);
  const struct lists expected = lists_of(graph, rank, n);
  MPI_Dist_graph_neighbors_count(made, &in, &out, &weighted);
  check(!weighted == !is_weighted, "weights appeared or were lost");
  check(in == expected.in && out == expected.out, "lists of other lengths");
  if (in != expected.in || out != expected.out) return; /* the others wait: the launcher's limit ends them */
  MPI_Dist_graph_neighbors(made, in, found.sources, is_weighted ? found.in_weights : MPI_UNWEIGHTED, out,
                           found.destinations, is_weighted ? found.out_weights : MPI_UNWEIGHTED);
  int* const of[] = {found.sources, found.destinations, found.in_weights, found.out_weights};
  if (spoils >= 0) of[spoils][0] = (of[spoils][0] + 1) % n;
  same_list(in, found.sources, expected.sources, in_order, "wrong sources");
  same_list(out, found.destinations, expected.destinations, in_order, "wrong destinations");
  if (is_weighted) {
    same_list(in, found.in_weights, expected.in_weights, in_order, "wrong weights of sources");
    same_list(out, found.out_weights, expected.out_weights, in_order, "wrong weights of destinations");
  }
  /* Who sends to whom, by the lists that were asked for. */
  int got[most][2], sent[most][2];
  MPI_Request requests[2 * most];
  for (int i = 0; i < in; ++i) MPI_Irecv(got[i], 2, MPI_INT, expected.sources[i], 1, made, &requests[i]);
  for (int i = 0; i < out; ++i) {
    sent[i][0] = rank, sent[i][1] = expected.destinations[i];
    MPI_Isend(sent[i], 2, MPI_INT, sent[i][1], 1, made, &requests[in + i]);
  }
  MPI_Waitall(in + out, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < in; ++i) check(got[i][0] == expected.sources[i] && got[i][1] == rank, "a message went astray");
  /* By the communicator's own. */
  for (int i = 0; i < out; ++i) sent[i][0] = rank, sent[i][1] = found.destinations[i];
  memset(got, -1, sizeof got);
  MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 2, MPI_INT, made);
  for (int i = 0; i < in; ++i)
    check(got[i][0] == found.sources[i] && got[i][1] == rank, "a wrong neighbour in a collective");
}

static int* weights(int count, int* all, int is_weighted) {
  return !is_weighted ? MPI_UNWEIGHTED : count > 0 ? all : MPI_WEIGHTS_EMPTY;
}

static void on_adjacent(MPI_Comm comm, enum graph graph, int is_weighted, MPI_Info info) {
  int old, n;
  MPI_Comm made;
  MPI_Comm_rank(comm, &old);
  MPI_Comm_size(comm, &n);
  struct lists own = lists_of(graph, old, n);
  MPI_Dist_graph_create_adjacent(comm, own.in, own.sources, weights(own.in, own.in_weights, is_weighted), own.out,
                                 own.destinations, weights(own.out, own.out_weights, is_weighted), info, 1, &made);
  check_graph(made, graph, rank_in(made, old, "an adjacent graph in a wrong order"), is_weighted, 1);
  MPI_Comm_free(&made);
}

/* Each rank gives the edges of the next one; the last none, and the first those of two. */
static void on_general(MPI_Comm comm, enum graph graph, int is_weighted, MPI_Info info) {
  int old, n, sources[2], degrees[2], destinations[2 * most], all[2 * most], edges_of = 0;
  MPI_Comm made;
  MPI_Comm_rank(comm, &old);
  MPI_Comm_size(comm, &n);
  const int nodes = old == n - 1 ? 0 : old == 0 ? 2 : 1;
  for (int i = 0; i < nodes; ++i) {
    sources[i] = i == 0 ? (old + 1) % n : 0;
    const struct lists own = lists_of(graph, sources[i], n);
    degrees[i] = own.out;
    memcpy(destinations + edges_of, own.destinations, sizeof(int) * (size_t)own.out);
    memcpy(all + edges_of, own.out_weights, sizeof(int) * (size_t)own.out);
    edges_of += own.out;
  }
  MPI_Dist_graph_create(comm, nodes, sources, degrees, destinations, weights(edges_of, all, is_weighted), info, 1,
                        &made);
  check_graph(made, graph, rank_in(made, old, "a general graph in a wrong order"), is_weighted, 0);
  MPI_Comm_free(&made);
}

static void on_graphs(MPI_Comm comm) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "kumihimo_test", "1");
  for (enum graph graph = 0; graph < graphs; ++graph)
    for (int is_weighted = 0; is_weighted < 2; ++is_weighted) {
      on_adjacent(comm, graph, is_weighted, is_weighted ? info : MPI_INFO_NULL);
      on_general(comm, graph, is_weighted, is_weighted ? info : MPI_INFO_NULL);
    }
  MPI_Info_free(&info);
}

/* The last rank reads one list wrong. */
static void on_spoiled(MPI_Comm comm) {
  int rank, n;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  for (int list = 0; list < 4; ++list) {
    const int before = failures;
    spoils = rank == n - 1 ? list : -1;
    on_adjacent(comm, ring, 1, MPI_INFO_NULL);
    const int found = failures - before;
    on_general(comm, ring, 1, MPI_INFO_NULL);
    const int found_in_general = failures - before - found;
    spoils = -1, failures = before;
    if (rank == n - 1 && (found == 0 || found_in_general == 0))
      ++failures, fprintf(stderr, "list %d was not checked\n", list);
  }
}

/* ---- errors, handlers, ends ---- */

static int handled;
static MPI_Comm handled_on;
static void handle(MPI_Comm* comm, int* code, ...) { handled = *code, handled_on = *comm; }

static void on_errors(MPI_Comm comm) {
  MPI_Comm returning, made, handling;
  MPI_Errhandler handler, found;
  int n, rank;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_dup(comm, &returning);
  MPI_Comm_set_errhandler(returning, MPI_ERRORS_RETURN);
  const int too_many[] = {n + 1}, negative[] = {-2}, fits[] = {n}, open[] = {0}, beyond[] = {n}, one[] = {1};
  check(MPI_Cart_create(returning, 1, too_many, open, 1, &made) != MPI_SUCCESS, "a grid that does not fit");
#ifndef MPICH /* which takes both */
  check(MPI_Cart_create(returning, 1, negative, open, 1, &made) != MPI_SUCCESS, "a negative length");
  check(MPI_Dist_graph_create_adjacent(returning, 1, beyond, one, 1, beyond, one, MPI_INFO_NULL, 1, &made) !=
            MPI_SUCCESS,
        "a neighbour that is not there");
#endif
  check(MPI_Cart_create(returning, 1, fits, open, 1, &made) == MPI_SUCCESS, "no grid after errors");
  MPI_Comm_get_errhandler(made, &found);
  check(found == MPI_ERRORS_RETURN, "another error handler");
  check(MPI_Send(&n, 1, MPI_INT, n + 5, 0, made) != MPI_SUCCESS, "a message to nobody");
  MPI_Comm_free(&made);
  MPI_Comm_dup(comm, &handling);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(handling, handler);
  MPI_Errhandler_free(&handler);
  MPI_Cart_create(handling, 1, fits, open, 1, &made);
  MPI_Comm_call_errhandler(made, MPI_ERR_OTHER);
  check(handled == MPI_ERR_OTHER && handled_on == made, "the program's error handler was lost");
  MPI_Comm_free(&made);
  MPI_Comm_free(&handling);
  MPI_Comm_free(&returning);
}

/* Without agreement, and between two groups: neither may hang. */
static void on_disagreement(MPI_Comm comm) {
  MPI_Comm made, half, between;
  int n, old, rank;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &old);
  const int fits[] = {n}, open[] = {0};
  MPI_Cart_create(comm, 1, fits, open, old != 0, &made);
  MPI_Comm_rank(made, &rank);
  check(rank == old, "a new order that not all asked for");
  MPI_Comm_free(&made);
  MPI_Cart_create(comm, 1, fits, open, 0, &made);
  MPI_Comm_rank(made, &rank);
  check(rank == old, "a new order that nobody asked for");
  MPI_Comm_free(&made);
  MPI_Comm_split(comm, old % 2, old, &half);
  MPI_Intercomm_create(half, 0, comm, (old + 1) % 2, 3, &between);
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* Open MPI reports it there */
  check(MPI_Cart_create(between, 1, fits, open, 1, &made) != MPI_SUCCESS, "a grid between two groups");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/* What is made on the way is freed. */
static void on_many(MPI_Comm comm) {
#ifdef MPICH /* which has 2048 communicators */
  const int many = 2100;
#else
  const int many = 100;
#endif
  int n;
  MPI_Comm_size(comm, &n);
  const int fits[] = {n}, closed[] = {1};
  for (int i = 0; i < many; ++i) {
    MPI_Comm made;
    MPI_Cart_create(comm, 1, fits, closed, 1, &made);
    MPI_Comm_free(&made);
  }
}

/* ---- better orders ---- */

static int node_of_process(void) {
  if (!by_name) return world_rank / (world_ranks / 2);
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length, node = 0;
  MPI_Get_processor_name(name, &length);
  for (int i = 0; i < length; ++i) node = node * 31 % 65537 + name[i];
  return node;
}

/* How many edges of a ring join two nodes, or two packages. */
static int cut_in_ring(MPI_Comm comm) {
  int n, nodes[most], mine = has_packages ? 2 * node_of_process() + world_rank % 2 : node_of_process(), cut = 0;
  MPI_Comm_size(comm, &n);
  MPI_Allgather(&mine, 1, MPI_INT, nodes, 1, MPI_INT, comm);
  for (int i = 0; i < n; ++i) cut += nodes[i] != nodes[(i + 1) % n];
  return cut;
}

/* `comm`: its ranks alternate between two nodes. */
static void on_better(MPI_Comm comm) {
  int n, old;
  MPI_Comm made;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &old);
  const int fits[] = {n}, closed[] = {1};
  const int before = cut_in_ring(comm);
  const int fewest = has_packages ? 4 : 2;
  check(before == n, "the ranks do not alternate between nodes or packages");
  MPI_Cart_create(comm, 1, fits, closed, 1, &made);
  check(cut_in_ring(made) == fewest, "a grid in an order that is not the best");
  MPI_Comm_free(&made);
  struct lists own = lists_of(ring, old, n);
  MPI_Dist_graph_create_adjacent(comm, own.in, own.sources, MPI_UNWEIGHTED, own.out, own.destinations, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 1, &made);
  check(cut_in_ring(made) == fewest, "a graph in an order that is not the best");
  MPI_Comm_free(&made);
}

#if MPI_VERSION >= 4
/* The library makes all topologies of a session. */
static void on_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm, made;
  int n, old, rank;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "reorder", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &old);
  const int fits[] = {n}, closed[] = {1};
  MPI_Cart_create(comm, 1, fits, closed, 1, &made);
  MPI_Comm_rank(made, &rank);
  if (is_reverse) check(rank == old, "a topology of a session in another order");
  MPI_Comm_free(&made);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  if (argc > 1) mode = argv[1];
  is_reverse = strcmp(mode, "reverse") == 0, is_same = strcmp(mode, "same") == 0;
  by_name = strcmp(mode, "names") == 0, has_packages = strcmp(mode, "packages") == 0;
  finds_better = by_name || has_packages || strcmp(mode, "shape") == 0;
  /* The ranks of the one are the world's, those of the other alternate between its halves. */
  MPI_Comm scrambled;
  const int half = world_ranks / 2;
  const int key = by_name ? world_rank : world_rank < half ? 2 * world_rank : 2 * (world_rank - half) + 1;
  MPI_Comm_split(MPI_COMM_WORLD, 0, key, &scrambled);
  MPI_Comm both[] = {MPI_COMM_WORLD, scrambled};
  for (int i = 0; i < 2; ++i) {
    on_grids(both[i]);
    on_graphs(both[i]);
    on_errors(both[i]);
    if (!is_same) on_disagreement(both[i]); /* else MPICH sees it, and hangs */
  }
  if (is_reverse) on_many(scrambled);
  if (finds_better && world_ranks > 2) on_better(scrambled);
  if (has_packages) on_better(MPI_COMM_WORLD);
  if (strcmp(mode, "spoiled") == 0) on_spoiled(scrambled);
#if MPI_VERSION >= 4
  if (is_reverse) on_session();
#endif
  MPI_Comm_free(&scrambled);
  int all = 0;
  LIBRARY(Allreduce, &failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (world_rank == 0) printf("%s: %d failures\n", all == 0 ? "good" : "bad", all);
  return all < 100 ? all : 100;
}
