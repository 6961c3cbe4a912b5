// Where a Session begins and ends: with MPI_COMM_WORLD once in a process, without it as often as the program opens a
// session of MPI's when it has none.
#include "interpose/calls.hpp"
#include "interpose/device_memory.hpp"
#include "interpose/session.hpp"
#include "mpi_hooks/fast_path.hpp"
#include "mpi_hooks/preload_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace kumihimo::interpose {

bool Session::begins(bool anew) {
  if (anew) library_.call.Comm_create_keyval(&copied, &deleted, &keyval_, this);
  if (!mpi::is_running()) return true;
  mpi_hooks::PreloadCheck::enter(object_name);                 // where MPI_Init was not caught
  if (!settings_.summary.empty()) std::remove(part().c_str()); // what was counted is in the sum at MPI_Finalize
  return true;
}

// Collectives of ours are over: the program has completed all that it began. What is left of them in the library is
// left to it, since no other rank need be here.
void Session::pauses() {
  nonblocking_.stop();
  if (!settings_.summary.empty()) write_summary(Ended::by_finalize, Counted::this_rank);
  for (const auto& c : all_) {
    if (!c->note().empty()) say(c->note());
    c->leave();
  }
  kept_.clear();
  release_library();
}

// Outside of the lock: the library may hold one of its own while it tells of a communicator's end.
void Session::release_library() {
  std::vector<std::unique_ptr<Communicator>> all;
  {
    const std::unique_lock lock(mutex_);
    all.swap(all_);
    by_handle_.clear();
    wanted_.clear(), wants_ = false;
    watched_.clear();
    mpi_hooks::FastPath::forget();
  }
  all.clear();
  asked_for_alone_ = false;
  if (mpi::Handle own = alone_.exchange(0); own != 0) library_.call.Comm_free(&own);
  library_.call.Comm_free_keyval(&keyval_);
}

void Session::is_new(mpi::Handle handle) {
  {
    const std::shared_lock lock(mutex_);
    if (!by_handle_.contains(handle) && !watched_.contains(handle)) return;
  }
  gone(handle);
}

void Session::set_up_world() {
  if (has_world() && ranks() > 1 && mpi_hooks::PreloadCheck::has_list(object_name))
    set_up(library_.constants.comm_world);
}

// The same answer on all its ranks. By sessions alone there is no communicator of all, on which they could have found
// out that they have the same wisdom.
bool Session::may_set_up(mpi::Handle handle) {
  if (has_world()) {
    bool between = false;
    const Communicator* const world = known(library_.constants.comm_world, between);
    if (!mpi_hooks::PreloadCheck::has_list(object_name) || !world || !world->agrees()) return false;
    if (wisdom_.size() == 0 && reproducible_ == Reproducible::off) return false; // nothing will ever be ours
  }
  const std::vector<std::int32_t> all = ranks_of(handle);
  if (std::any_of(all.begin(), all.end(), [](std::int32_t rank) { return rank < 0; })) return false; // of another job
  return has_world() || (mpi_hooks::PreloadCheck::has_session_list(object_name) && everyone_is_here(handle));
}

// Between them the ranks agree: each knows only what it has called itself.
void Session::set_up_new(mpi::Handle handle) {
  DeviceMemory::look();
  int two_groups = 0, ranks = 0;
  if (handle == library_.constants.comm_null || library_.call.Comm_test_inter(handle, &two_groups) != 0 || two_groups)
    return;
  if (library_.call.Comm_size(handle, &ranks) != 0 || ranks == 1 || !may_set_up(handle)) return;
  const std::int32_t mine = is_nonblocking_.load(std::memory_order_relaxed);
  std::int32_t any = 0;
  const int code = library_.call.Allreduce(&mine, &any, 1, library_.datatype(DataType::int32),
                                           library_.operation(Operation::max), handle);
  if (code == 0 && any != 0) set_up(handle);
}

void Session::set_up(mpi::Handle handle) {
  if (Communicator* const found = communicator(handle)) found->connect();
}

// Made now if it was not: that nothing was called is to be told, too.
void before_session_finalize() {
  Session::current();
  if (mpi_hooks::ProgramSessions::closes_last()) Session::last_session_ends();
}

void before_abort() {
  if (Session* const session = Session::current()) session->aborts();
}

void session_stays() {
  mpi_hooks::ProgramSessions::opened();
  Session::life_begins();
}

void after_beginning(const mpi_hooks::Call& call) {
  if (mpi_hooks::begins_session(call)) mpi_hooks::ProgramSessions::opened();
  Session::life_begins();
  // Before any communicator is made in which others could wait for a rank that finds no place.
  Session* const session = Session::current();
  if (session && mpi_hooks::begins_mpi(call)) session->set_up_world();
}

std::string Session::part() const { return fmt::format("{}.rank{}", settings_.summary, rank()); }

} // namespace kumihimo::interpose
