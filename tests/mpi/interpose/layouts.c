/* Derived types of every constructor, sent and received by the name that our object may run and by the library's
 * own function. Some have their elements one behind the other, others only look like it. The exit status is the
 * number of failed checks, at most 100. */
#include "library_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { types = 20, over_each_other = 8, most = 40000 }; /* ints of a buffer */
static MPI_Datatype type[types];
static const char* const name[types] = {"contiguous",
                                        "dup",
                                        "vector",
                                        "vector with gaps",
                                        "hvector",
                                        "hvector with gaps",
                                        "indexed",
                                        "indexed backwards",
                                        "indexed over each other",
                                        "hindexed",
                                        "indexed_block",
                                        "indexed_block backwards",
                                        "hindexed_block",
                                        "struct",
                                        "struct backwards",
                                        "resized",
                                        "subarray",
                                        "part of an array",
                                        "of a type with gaps",
                                        "contiguous, made with a large count"};
static int rank, ranks, failures;

static void make(void) {
  const int lengths[3] = {1, 0, 2}, twos[2] = {2, 2}, places[3] = {0, 7, 1}, backwards[2] = {2, 0}, over[3] = {0, 0, 3},
            ones[3] = {1, 2, 1}, blocks[2] = {0, 2}, sizes[2] = {3, 4}, part[2] = {3, 2}, starts[2] = {0, 0};
  const MPI_Aint bytes[3] = {0, 99, 4}, at[2] = {0, 8}, behind[2] = {8, 0};
  const MPI_Datatype parts[2] = {MPI_FLOAT, MPI_INT};
  MPI_Datatype apart;
  MPI_Type_contiguous(3, MPI_INT, &type[0]);
  MPI_Type_dup(type[0], &type[1]);
  MPI_Type_vector(4, 2, 2, MPI_INT, &type[2]);
  MPI_Type_vector(4, 2, 3, MPI_INT, &type[3]);
  MPI_Type_create_hvector(4, 2, 8, MPI_INT, &type[4]);
  MPI_Type_create_hvector(4, 2, 12, MPI_INT, &type[5]);
  MPI_Type_indexed(3, lengths, places, MPI_INT, &type[6]);
  MPI_Type_indexed(2, twos, backwards, MPI_INT, &type[7]);
  MPI_Type_indexed(3, ones, over, MPI_INT, &type[8]); /* 0, 0, 1 and 3: as many as there is room for */
  MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type[9]);
  MPI_Type_create_indexed_block(2, 2, blocks, MPI_INT, &type[10]);
  MPI_Type_create_indexed_block(2, 2, backwards, MPI_INT, &type[11]);
  MPI_Type_create_hindexed_block(2, 2, at, MPI_INT, &type[12]);
  MPI_Type_create_struct(2, twos, at, parts, &type[13]);
  MPI_Type_create_struct(2, twos, behind, parts, &type[14]);
  MPI_Type_create_resized(type[0], 0, 12, &type[15]);
  MPI_Type_create_subarray(2, sizes, sizes, starts, MPI_ORDER_C, MPI_INT, &type[16]);
  MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &type[17]);
  MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
  MPI_Type_contiguous(2, apart, &type[18]);
  MPI_Type_free(&apart);
#if MPI_VERSION >= 4
  MPI_Type_contiguous_c(3, MPI_INT, &type[19]); /* of which a library with large counts is asked by other names */
#else
  MPI_Type_contiguous(3, MPI_INT, &type[19]);
#endif
  for (int t = 0; t < types; ++t) MPI_Type_commit(&type[t]);
}

static void compare(const int* ours, const int* theirs, const char* what, int t) {
  if (memcmp(ours, theirs, most * sizeof(int)) == 0) return;
  if (failures++ < 5) fprintf(stderr, "rank %d: %s of %s\n", rank, what, name[t]);
}

static void fill(int* data, int first) {
  for (int i = 0; i < most; ++i) data[i] = first + i;
}

/* Sent as a type and received as ints, and the other way round. */
static void check(int t, int ints) {
  static int from[most], ours[most], theirs[most];
  int size;
  MPI_Type_size(type[t], &size);
  const int count = ints * 4 / size, sent = count * size / 4;
  for (int way = 0; way < (t == over_each_other ? 1 : 2); ++way) { /* nobody may receive what lies over itself */
    const int typed = (rank == 0) == (way == 0);
    MPI_Datatype mine = typed ? type[t] : MPI_INT;
    const int my_count = typed ? count : sent;
    fill(ours, rank * 7), fill(theirs, rank * 7);
    MPI_Bcast(ours, my_count, mine, 0, MPI_COMM_WORLD);
    LIBRARY(Bcast, theirs, my_count, mine, 0, MPI_COMM_WORLD);
    compare(ours, theirs, "a broadcast", t);
    fill(from, rank * 100000), fill(ours, -most), fill(theirs, -most);
    MPI_Allgather(from, my_count, mine, ours, way ? count : sent, way ? type[t] : MPI_INT, MPI_COMM_WORLD);
    LIBRARY(Allgather, from, my_count, mine, theirs, way ? count : sent, way ? type[t] : MPI_INT, MPI_COMM_WORLD);
    compare(ours, theirs, "an allgather", t);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  make();
  for (int t = 0; t < types; ++t) check(t, 48), check(t, 7200);
  for (int t = 0; t < types; ++t) MPI_Type_free(&type[t]);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all < 100 ? all : 100;
}
