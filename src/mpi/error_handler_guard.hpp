// While it exists, errors on one of the program's communicators are returned to us, whatever its error handler.
#pragma once

#include "mpi/library.hpp"

namespace kumihimo::mpi {

class ErrorHandlerGuard {
 public:
  ErrorHandlerGuard(const Library& library, Handle communicator) : library_(library), communicator_(communicator) {
    if (library_.call.Comm_get_errhandler(communicator_, &before_) != 0) return;
    changed_ = library_.call.Comm_set_errhandler(communicator_, library_.constants.errors_return) == 0;
  }
  ~ErrorHandlerGuard() {
    if (changed_) library_.call.Comm_set_errhandler(communicator_, before_);
    const bool predefined =
        before_ == library_.constants.errors_return || before_ == library_.constants.errors_are_fatal;
    if (before_ != 0 && !predefined) library_.call.Errhandler_free(&before_);
  }
  ErrorHandlerGuard(const ErrorHandlerGuard&) = delete;
  ErrorHandlerGuard& operator=(const ErrorHandlerGuard&) = delete;

 private:
  const Library& library_;
  Handle communicator_, before_ = 0;
  bool changed_ = false;
};

} // namespace kumihimo::mpi
