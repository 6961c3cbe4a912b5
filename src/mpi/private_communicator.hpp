// A communicator of ours over the ranks of one of the program's.
#pragma once

#include "mpi/library.hpp"

namespace kumihimo::mpi {

// Collective. Errors on the new one are returned. The program must not end because a library has no more communicators
// (2048, or 65536): so are those of making it. Split and not duplicated, which would call functions of the program's
// for the attributes that it copies.
Result<Handle> make_private_communicator(const Library& library, Handle communicator);

} // namespace kumihimo::mpi
