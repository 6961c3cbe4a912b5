#include "execute/mpi/split.hpp"

#include <mutex>

namespace kumihimo::mpi {
namespace {

// While it lives, errors on a communicator of the program's are returned to us.
class ErrorsReturned {
 public:
  ErrorsReturned(const Library& library, Handle communicator) : library_(library), communicator_(communicator) {
    if (library_.call.Comm_get_errhandler(communicator_, &before_) != 0) return;
    changed_ = library_.call.Comm_set_errhandler(communicator_, library_.constants.errors_return) == 0;
  }
  ~ErrorsReturned() {
    if (changed_) library_.call.Comm_set_errhandler(communicator_, before_);
    const bool predefined =
        before_ == library_.constants.errors_return || before_ == library_.constants.errors_are_fatal;
    if (before_ != 0 && !predefined) library_.call.Errhandler_free(&before_);
  }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;

 private:
  const Library& library_;
  Handle communicator_, before_ = 0;
  bool changed_ = false;
};

} // namespace

Result<Handle> split(const Library& library, Handle communicator) {
  // One rank's own, at any time and on any thread: two at once would take each other's handler for the program's.
  static std::mutex of_one_rank;
  std::unique_lock lock(of_one_rank, std::defer_lock);
  if (communicator == library.constants.comm_self) lock.lock();
  const ErrorsReturned returned(library, communicator);
  std::int32_t rank = 0;
  library.call.Comm_rank(communicator, &rank);
  Handle own = 0;
  const int code = library.call.Comm_split(communicator, 0, rank, &own);
  if (Status s = library.check(code, "MPI_Comm_split"); !s) return s.error();
  library.call.Comm_set_errhandler(own, library.constants.errors_return);
  return own;
}

} // namespace kumihimo::mpi
