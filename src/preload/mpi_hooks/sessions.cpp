#include "mpi_hooks/sessions.hpp"

#include "mpi_hooks/fast_path.hpp"

#include <mutex>
#include <new>
#include <unordered_set>

namespace kumihimo::mpi_hooks {
namespace {

std::mutex mutex;
std::unordered_set<Handle>& handles() {
  static auto* const all = new std::unordered_set<Handle>; // used until the end of the process
  return *all;
}

Handle null_communicator() {
  static const Handle null = [] {
    const Result<mpi::Library> library = mpi::loaded_library();
    return library ? library->constants.comm_null : Handle{};
  }();
  return null;
}

} // namespace

bool ProgramSessions::made_communicator(Handle communicator) {
  if (communicators_.load(std::memory_order_relaxed) == 0) [[likely]]
    return false;
  const std::lock_guard lock(mutex);
  return handles().contains(communicator);
}

void ProgramSessions::note_before(const HookedCall& call) {
  if (call.name == Name::Session_init && !mpi::is_running()) came_first_ = true;
  if (call.kind() != CallKind::communicator_end || communicators_ == 0) return;
  const std::lock_guard lock(mutex);
  if (handles().erase(call.handle_at(Role::ended_communicator)) > 0) count();
}

// A handle may come back for a communicator of the world.
void ProgramSessions::note_made(const HookedCall& call) {
  const bool of_group = call.name == Name::Comm_create_from_group || call.name == Name::Intercomm_create_from_groups;
  if (!of_group && communicators_ == 0) return;
  const Handle handle = call.handle_at(Role::new_communicator);
  if (handle == null_communicator()) return; // of a rank that is in no part of a split
  const std::lock_guard lock(mutex);
  const bool is_of_session = of_group || handles().contains(call.handle(Role::communicator));
  try {
    if (is_of_session ? handles().insert(handle).second : handles().erase(handle) > 0) count();
  } catch (const std::bad_alloc&) { // it counts as one of the world's
  }
}

void ProgramSessions::count() {
  communicators_ = static_cast<std::int32_t>(handles().size());
  FastPath::forget();
}

} // namespace kumihimo::mpi_hooks
