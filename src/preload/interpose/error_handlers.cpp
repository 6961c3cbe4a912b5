#include "interpose/error_handlers.hpp"

#include "mpi/program_communicator.hpp"

#include <memory>
#include <mutex>

namespace kumihimo::interpose {
namespace {

// Shared by all threads: a second thread would take the first one's handlers for the program's.
struct HandlersReturned {
  std::mutex mutex;
  int users = 0;
  std::unique_ptr<mpi::ErrorHandlerGuard> world, self;
};
HandlersReturned& handlers_returned() {
  static HandlersReturned& kept = *new HandlersReturned; // threads may end last
  return kept;
}

} // namespace

SilentErrorHandlers::SilentErrorHandlers(const mpi::Library& library) {
  HandlersReturned& r = handlers_returned();
  const std::lock_guard lock(r.mutex);
  if (r.users++ > 0) return;
  r.world = std::make_unique<mpi::ErrorHandlerGuard>(library, library.constants.comm_world);
  r.self = std::make_unique<mpi::ErrorHandlerGuard>(library, library.constants.comm_self);
}

SilentErrorHandlers::~SilentErrorHandlers() {
  HandlersReturned& r = handlers_returned();
  const std::lock_guard lock(r.mutex);
  if (--r.users > 0) return;
  r.self.reset();
  r.world.reset();
}

} // namespace kumihimo::interpose
