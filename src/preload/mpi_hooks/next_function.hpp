// The function that a hooked call goes on to: that of the next object with its name (another tool, or the MPI library).
// If there is none in sight, because Python loaded the library for one module only, it is the library's profiling name.
#pragma once

#include "mpi_hooks/call.hpp"

namespace kumihimo::mpi_hooks {

// `name`: "MPI_Send" or "mpi_send_". Null: the library has no such function, or no memory is left.
void* next_of(const char* name);

// Whether a call came from the MPI library itself or from its Fortran binding. What these do by profiling names of C is
// not the program's (MPICH's files), or was seen by its Fortran name.
bool is_in_library(const void* site);

// MPI's error code for a call that the library does not have.
int absent();

} // namespace kumihimo::mpi_hooks
