/* Part of what the dynamic linker binds past objects that were loaded before the MPI library. A plug-in, opened with
 * RTLD_DEEPBIND, finds the functions of the MPI library itself. A measuring tool (TOOL), linked with -Bsymbolic or into
 * the program, calls its own functions, which go on by the profiling names. */
#include "completions.h"

#ifdef TOOL
int MPI_Wait(MPI_Request* r, MPI_Status* s) { return PMPI_Wait(r, s); }
int MPI_Waitall(int n, MPI_Request* r, MPI_Status* s) { return PMPI_Waitall(n, r, s); }
int MPI_Waitany(int n, MPI_Request* r, int* i, MPI_Status* s) { return PMPI_Waitany(n, r, i, s); }
int MPI_Waitsome(int n, MPI_Request* r, int* m, int* i, MPI_Status* s) { return PMPI_Waitsome(n, r, m, i, s); }
int MPI_Test(MPI_Request* r, int* f, MPI_Status* s) { return PMPI_Test(r, f, s); }
int MPI_Testall(int n, MPI_Request* r, int* f, MPI_Status* s) { return PMPI_Testall(n, r, f, s); }
int MPI_Testany(int n, MPI_Request* r, int* i, int* f, MPI_Status* s) { return PMPI_Testany(n, r, i, f, s); }
int MPI_Testsome(int n, MPI_Request* r, int* m, int* i, MPI_Status* s) { return PMPI_Testsome(n, r, m, i, s); }
int MPI_Request_get_status(MPI_Request r, int* f, MPI_Status* s) { return PMPI_Request_get_status(r, f, s); }
int MPI_Cancel(MPI_Request* r) { return PMPI_Cancel(r); }
int MPI_Request_free(MPI_Request* r) { return PMPI_Request_free(r); }
#endif

const struct completions* completions(void) {
  static const struct completions found = COMPLETIONS(MPI_);
  return &found;
}
