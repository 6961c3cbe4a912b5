// Where a hooked call goes on: to the next object that has its name (another tool, or the MPI library), and where there
// is none in sight, because the library was loaded for one module alone as Python does, to the library's profiling
// name.
#pragma once

#include "mpi_hooks/call.hpp"

namespace kumihimo::mpi_hooks {

// "MPI_Send" or "mpi_send_"; null where the library has no such function, or no memory is left.
void* next_of(const char* name);

// MPI's code for a call that the library has not.
int absent();

} // namespace kumihimo::mpi_hooks
