// The constants of each ABI family of MPI libraries.
#pragma once

#include "mpi/library.hpp"

namespace kumihimo::mpi {

// `image`: the library as dlopen returned it.
Result<Constants> open_mpi_constants(void* image); // fails if an exported object is missing
Constants mpich_constants(void* image);

} // namespace kumihimo::mpi
