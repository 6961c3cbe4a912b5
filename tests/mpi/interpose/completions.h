/* The functions of MPI that complete requests, as one object file finds them. */
#include "library_functions.h"

struct completions {
  int (*wait)(MPI_Request*, MPI_Status*);
  int (*waitall)(int, MPI_Request*, MPI_Status*);
  int (*waitany)(int, MPI_Request*, int*, MPI_Status*);
  int (*waitsome)(int, MPI_Request*, int*, int*, MPI_Status*);
  int (*test)(MPI_Request*, int*, MPI_Status*);
  int (*testall)(int, MPI_Request*, int*, MPI_Status*);
  int (*testany)(int, MPI_Request*, int*, int*, MPI_Status*);
  int (*testsome)(int, MPI_Request*, int*, int*, MPI_Status*);
  int (*get_status)(MPI_Request, int*, MPI_Status*);
  int (*cancel)(MPI_Request*);
  int (*free)(MPI_Request*);
};

#define COMPLETIONS(prefix)                                                                                            \
  {                                                                                                                    \
    prefix##Wait, prefix##Waitall, prefix##Waitany, prefix##Waitsome, prefix##Test, prefix##Testall, prefix##Testany,  \
        prefix##Testsome, prefix##Request_get_status, prefix##Cancel, prefix##Request_free                             \
  }
