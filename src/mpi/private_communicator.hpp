// A communicator of our own with the ranks of one of the program's.
#pragma once

#include "mpi/library.hpp"

namespace kumihimo::mpi {

// Collective. Errors on the new communicator are returned, and so are the errors of making it: a program must not end
// because its library has no communicator left (there are 2048, or 65536). By MPI_Comm_split, because MPI_Comm_dup
// would call the program's attribute callbacks.
Result<Handle> make_private_communicator(const Library& library, Handle communicator);

} // namespace kumihimo::mpi
