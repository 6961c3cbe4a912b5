// Whether the calls that complete requests reach us. A program, or a library that is linked into it, may define
// MPI_Wait or MPI_Test itself and call the MPI library's profiling names; such definitions stand before ours. A
// non-blocking collective of ours would then never be complete: only the program's own calls may complete its request.
#pragma once

namespace kumihimo::interpose {

// Of this process: all names, in C and in every spelling of Fortran.
bool completion_is_hooked();

} // namespace kumihimo::interpose
