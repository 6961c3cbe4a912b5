// Whether the calls that complete requests are hooked. A program, or a library linked into it, may define MPI_Wait or
// MPI_Test itself and call the MPI library's profiling names; such definitions precede ours. Our non-blocking
// collectives would then never complete, because only the program's calls may complete their requests.
#pragma once

namespace kumihimo::interpose {

// Checks this process: all names, in C and in every spelling of Fortran.
bool completion_is_hooked();

} // namespace kumihimo::interpose
