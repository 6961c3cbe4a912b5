/* For programs that make each call twice, by its name, which may be taken over, and by the library's own function:
 * pairs of ints one behind the other, and others of the same signature with gaps in and between them. */
#include "library_functions.h"

enum { spread = 5 }; /* ints from one of the spread pairs to the next */
static MPI_Datatype pair, spread_pair;

static void make_types(void) {
  MPI_Datatype apart;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
  MPI_Type_create_resized(apart, 0, spread * sizeof(int), &spread_pair);
  MPI_Type_commit(&pair);
  MPI_Type_commit(&spread_pair);
  MPI_Type_free(&apart);
}

/* Of a function with the parameters `c` (the call), `library` (by its own function?), `begun` (not blocking?). */
#define CALL(f, i, ...)                                                                                                \
  return !begun ? (library ? LIBRARY(f, __VA_ARGS__) : MPI_##f(__VA_ARGS__))                                           \
                : (library ? LIBRARY(i, __VA_ARGS__, &c->request) : MPI_##i(__VA_ARGS__, &c->request))
