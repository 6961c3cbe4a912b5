// What lets a generalised request advance while the MPI library waits for it. MPI has nothing for that: MPI_Wait only
// waits until another thread completes the request. So both families of libraries have an extension.
#pragma once

#include "mpi/library.hpp"

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

// Those that the library has.
ProgressExtensions progress_extensions(const Library& library);

} // namespace kumihimo::mpi
