#include "mpi/library_progress.hpp"

#include <mutex>

namespace kumihimo::mpi {
namespace {

// The request has no data.
int query(void* state, StatusWords* status) {
  const Library& library = *static_cast<const Library*>(state);
  library.call.Status_set_elements(status, library.datatype(DataType::uint8), 0);
  return library.call.Status_set_cancelled(status, 0);
}
int free_nothing(void*) { return 0; }
int cancel_nothing(void*, int) { return 0; }

} // namespace

std::shared_ptr<LibraryProgress> LibraryProgress::of(const Library& library) {
  static std::mutex mutex; // transports may be made in several threads
  static std::weak_ptr<LibraryProgress> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<LibraryProgress> driver = known.lock();
  if (driver && &driver->library_ == &library) return driver;
  driver.reset(new LibraryProgress(library));
  known = driver;
  return driver;
}

LibraryProgress::LibraryProgress(const Library& library)
    : library_(library), made_(library.call.Grequest_start(&query, &free_nothing, &cancel_nothing,
                                                           const_cast<Library*>(&library), &never_)) {}

LibraryProgress::~LibraryProgress() {
  int finalized = 0;
  if (made_ != 0 || library_.call.Finalized(&finalized) != 0 || finalized) return;
  library_.call.Grequest_complete(never_);
  library_.call.Wait(&never_, library_.constants.status_ignore);
}

int LibraryProgress::progress() const {
  int complete = 0;
  return library_.call.Request_get_status(never_, &complete, library_.constants.status_ignore);
}

} // namespace kumihimo::mpi
