// Makes the error handlers of MPI_COMM_WORLD and MPI_COMM_SELF only return, while any SilentErrorHandlers lives. A
// failed non-blocking collective of ours calls its communicator's handler itself, once. When the program completes the
// request, the library knows no communicator and calls the handler of one of these two. The default handler would end a
// program that has errors returned on the communicator that it uses.
#pragma once

#include "mpi/library.hpp"

namespace kumihimo::interpose {

class SilentErrorHandlers {
 public:
  explicit SilentErrorHandlers(const mpi::Library& library);
  ~SilentErrorHandlers();
  SilentErrorHandlers(const SilentErrorHandlers&) = delete;
  SilentErrorHandlers& operator=(const SilentErrorHandlers&) = delete;
};

} // namespace kumihimo::interpose
