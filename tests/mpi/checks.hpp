// What mpi_check runs on every rank. A check says what is wrong on stderr and answers false.
#pragma once

#include "execute/mpi/abi.hpp"

namespace kumihimo::mpi {

// The tables of constants and functions: types, operations, attributes, communicators, windows, requests.
bool check_abi(const Library& library, int rank, int ranks);
// Messages in random orders, over shared memory, point-to-point and both.
bool check_transport(const Library& library, int rank, int ranks);
// A wait must drive the library: a message of the program's own is under way meanwhile.
bool check_progress_of_the_library(const Library& library, int rank, int ranks);

} // namespace kumihimo::mpi
