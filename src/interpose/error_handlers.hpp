// A failure of a non-blocking collective of ours is told to the error handler of its communicator, once, by us. Its
// request then fails where the program completes it, which the library tells the handler of MPI_COMM_WORLD or of
// MPI_COMM_SELF, since it knows of no communicator: the default one would end a program that has its errors returned on
// the communicator that it works on. While any of these lives, both handlers only return.
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
