#include "mpi/program_communicator.hpp"

#include <mutex>

namespace kumihimo::mpi {

void release_error_handler(const Library& library, Handle handler) {
  const bool is_predefined =
      handler == library.constants.errors_return || handler == library.constants.errors_are_fatal;
  if (!is_predefined) library.call.Errhandler_free(&handler);
}

bool has_fatal_errors(const Library& library, Handle communicator) {
  Handle handler = 0;
  if (library.call.Comm_get_errhandler(communicator, &handler) != 0) return false;
  const bool fatal = handler == library.constants.errors_are_fatal;
  release_error_handler(library, handler);
  return fatal;
}

Result<Handle> make_private_communicator(const Library& library, Handle communicator) {
  // MPI_COMM_SELF may be split on several threads at a time: each would save the other's error handler as the
  // program's.
  static std::mutex of_one_rank;
  std::unique_lock lock(of_one_rank, std::defer_lock);
  if (communicator == library.constants.comm_self) lock.lock();
  const ErrorHandlerGuard returned(library, communicator);
  std::int32_t rank = 0;
  library.call.Comm_rank(communicator, &rank);
  Handle own = 0;
  const int code = library.call.Comm_split(communicator, 0, rank, &own);
  if (Status s = library.check(code, "MPI_Comm_split"); !s) return s.error();
  library.call.Comm_set_errhandler(own, library.constants.errors_return);
  return own;
}

} // namespace kumihimo::mpi
