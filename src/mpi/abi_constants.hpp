// The constants of each ABI family of MPI libraries.
#pragma once

#include "mpi/library.hpp"

namespace kumihimo::mpi {

// `image`: the library as dlopen returned it. Fails if an exported object is missing.
Result<Constants> open_mpi_constants(void* image);
Constants mpich_constants();

} // namespace kumihimo::mpi
