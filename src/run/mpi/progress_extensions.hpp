// What lets a generalised request advance while the MPI library waits for it. MPI has nothing for that: MPI_Wait only
// waits until another thread completes the request. So both families of libraries have an extension.
#pragma once

#include "mpi/library.hpp"

#include <string_view>

namespace kumihimo::mpi {

struct ProgressExtensions {
  using Query = int (*)(void* state, StatusWords* status);
  using Free = int (*)(void* state);
  using Cancel = int (*)(void* state, int complete);
  using Poll = int (*)(void* state, StatusWords* status);
  using Wait = int (*)(int number, void** states, double seconds, StatusWords* status);

  // MPICH and its relatives: MPIX_Grequest_start. Tests and most waits of the request call `Poll` until it completes
  // the request; the other waits call `Wait`, which returns when the requests are complete.
  int (*start)(Query, Free, Cancel, Poll, Wait, void* state, Handle* request) = nullptr;
  // Open MPI: opal_progress_register. Whatever waits or tests calls the function, which returns the number of events.
  int (*register_progress)(int (*)()) = nullptr;
  int (*unregister_progress)(int (*)()) = nullptr;

  bool any() const { return start || (register_progress && unregister_progress); }
};

// Whether a library of MPICH's family lets go of its lock while it calls `Poll` and `Wait`. MPICH does from 3.4 on;
// before that, threads would wait for each other. `version`: the first line of MPI_Get_library_version.
bool polls_outside_its_lock(std::string_view version);

// Those that the library has and that can be used.
ProgressExtensions progress_extensions(const Library& library);

} // namespace kumihimo::mpi
