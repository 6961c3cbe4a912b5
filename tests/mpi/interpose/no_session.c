/* Loaded before an MPI library, by whose name this begins: on the rank that NO_SESSION names, or on all, no session is opened for who
 * calls the library by its profiling names, as we do, and not the program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

int PMPI_Session_init(void *info, void *errors, void *session) {
  const char *rank = getenv("PMI_RANK"), *refused = getenv("NO_SESSION");
  if (!rank) rank = getenv("OMPI_COMM_WORLD_RANK");
  const int here = refused && (strcmp(refused, "all") == 0 || (rank && strcmp(rank, refused) == 0));
  if (here) return 16; /* MPI_ERR_OTHER, or another error */
  return ((int (*)(void *, void *, void *))dlsym(RTLD_NEXT, "PMPI_Session_init"))(info, errors, session);
}
