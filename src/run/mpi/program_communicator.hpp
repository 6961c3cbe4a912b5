// The program's communicators and their error handlers, and communicators of our own.
#pragma once

#include "mpi/library.hpp"

namespace kumihimo::mpi {

// Of one that Comm_get_errhandler gave.
void release_error_handler(const Library& library, Handle handler);

// While it exists, errors on one of the program's communicators are returned to us, whatever its error handler.
class ErrorHandlerGuard {
 public:
  ErrorHandlerGuard(const Library& library, Handle communicator) : library_(library), communicator_(communicator) {
    if (library_.call.Comm_get_errhandler(communicator_, &before_) != 0) return;
    changed_ = library_.call.Comm_set_errhandler(communicator_, library_.constants.errors_return) == 0;
  }
  ~ErrorHandlerGuard() {
    if (changed_) library_.call.Comm_set_errhandler(communicator_, before_);
    if (before_ != 0) release_error_handler(library_, before_);
  }
  ErrorHandlerGuard(const ErrorHandlerGuard&) = delete;
  ErrorHandlerGuard& operator=(const ErrorHandlerGuard&) = delete;

 private:
  const Library& library_;
  Handle communicator_, before_ = 0;
  bool changed_ = false;
};

// Whether an error on this communicator ends the job, by the library's own handler.
bool has_fatal_errors(const Library& library, Handle communicator);

// A communicator of our own with the ranks of one of the program's. Collective. Errors on the new communicator are
// returned, and so are the errors of making it: a program must not end because its library has no communicator left
// (there are 2048, or 65536). By MPI_Comm_split, because MPI_Comm_dup would call the program's attribute callbacks.
Result<Handle> make_private_communicator(const Library& library, Handle communicator);

} // namespace kumihimo::mpi
