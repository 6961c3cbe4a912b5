/* An MPI library whose PMPI_Allgather or PMPI_Comm_split tells one rank of a death and the others of none: ULFM allows
 * a collective call to end so. Linked to the real library, which has everything else. Of the environment: BREAK, the
 * call: the first one after the first MPIX_Comm_shrink, in which BREAK_SECOND dies and of which rank 0 is told.
 * BREAK_FIRST dies in its MPI_Allreduce of this ordinal: FIRST_SUM. Without BREAK_SECOND no second rank dies, and every
 * call fails on rank 0 with another error. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int MPIX_Comm_shrink(MPI_Comm from, MPI_Comm* made);
int PMPIX_Comm_shrink(MPI_Comm from, MPI_Comm* made);

enum { FIRST_SUM = 30, TOLD = 75 }; /* MPIX_ERR_PROC_FAILED */
enum { BEFORE, RECOVERING, BROKEN };
static int state = BEFORE, sums = 0;

static int is_rank(const char* asked) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  return asked && rank && !strcmp(rank, asked);
}

int MPIX_Comm_shrink(MPI_Comm from, MPI_Comm* made) {
  if (state == BEFORE) state = RECOVERING;
  return PMPIX_Comm_shrink(from, made);
}

static int broken(const char* call, int code) {
  const char* asked = getenv("BREAK");
  if (!asked || strcmp(asked, call) || state != RECOVERING) return code;
  if (!getenv("BREAK_SECOND")) return is_rank("0") ? MPI_ERR_NO_MEM : code;
  state = BROKEN;
  if (is_rank(getenv("BREAK_SECOND"))) raise(SIGKILL);
  return is_rank("0") ? TOLD : code;
}

int PMPI_Allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op operation, MPI_Comm on) {
  if (++sums == FIRST_SUM && is_rank(getenv("BREAK_FIRST"))) raise(SIGKILL);
  return MPI_Allreduce(in, out, n, type, operation, on);
}

int PMPI_Allgather(const void* in, int n, MPI_Datatype of, void* out, int m, MPI_Datatype type, MPI_Comm on) {
  return broken("allgather", MPI_Allgather(in, n, of, out, m, type, on));
}

int PMPI_Comm_split(MPI_Comm from, int colour, int key, MPI_Comm* made) {
  return broken("split", MPI_Comm_split(from, colour, key, made));
}
