// Where a Session begins and ends: with MPI_COMM_WORLD once in a process, without it as often as the program opens a
// session of MPI's when it has none.
#include "caught/passing.hpp"
#include "caught/roll_call.hpp"
#include "interpose/calls.hpp"
#include "interpose/session.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace kumihimo::interpose {

void Session::life_begins() {
  const std::lock_guard lock(of_lives);
  if (Session* const session = made) session->go_on();
}

void Session::last_session_ends() {
  const std::lock_guard lock(of_lives);
  if (caught::ProgramSessions::any()) return; // another thread has opened one meanwhile
  if (Session* const session = made; session && !mpi::is_running()) session->pause();
}

void Session::begin(std::unique_ptr<caught::OwnSession> own) {
  own_session_ = std::move(own);
  has_world_ = own_session_ == nullptr;
  if (has_world_) {
    library_.call.Comm_rank(library_.constants.comm_world, &world_rank_);
    library_.call.Comm_size(library_.constants.comm_world, &world_ranks_);
    caught::RollCall::enter(object_name); // where MPI_Init was not caught
  } else {
    world_rank_ = own_session_->rank(), world_ranks_ = own_session_->ranks();
  }
  library_.call.Comm_create_keyval(&copied, &deleted, &keyval_, this);
}

void Session::go_on() {
  if (paused_) {
    std::unique_ptr<caught::OwnSession> own;
    if (!mpi::is_running() && !(own = caught::OwnSession::open(library_))) return;
    begin(std::move(own));
    paused_ = false, finished_ = false;
  } else if (!finished_ && !has_world_ && mpi::is_running()) {
    has_world_ = true;
  }
  if (has_world_ && !finished_ && !settings_.summary.empty())
    std::remove(part().c_str()); // what was counted is in the sum at MPI_Finalize
}

// Collectives of ours are over: the program has completed all that it began. What is left of them in the library is
// left to it, since no other rank need be here.
void Session::pause() {
  if (has_world_ || finished_.exchange(true)) return;
  nonblocking_.stop();
  if (!settings_.summary.empty()) write_summary(tally_.counts(), Ended::by_finalize, Whose::own);
  for (const auto& c : all_) {
    if (!c->note().empty()) say(c->note());
    c->leave();
  }
  release_library();
  paused_ = true;
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
    caught::Passing::forget();
  }
  all.clear();
  asked_for_alone_ = false;
  if (mpi::Handle own = alone_.exchange(0); own != 0) library_.call.Comm_free(&own);
  library_.call.Comm_free_keyval(&keyval_);
  own_session_.reset();
}

void Session::is_new(mpi::Handle handle) {
  {
    const std::shared_lock lock(mutex_);
    if (!by_handle_.contains(handle) && !watched_.contains(handle)) return;
  }
  gone(handle);
}

// Made now if it was not: that nothing was called is to be told, too.
void before_session_finalize() {
  Session::current();
  if (caught::ProgramSessions::closes_last()) Session::last_session_ends();
}

void session_stays() {
  caught::ProgramSessions::opened();
  Session::life_begins();
}

void after_beginning(const caught::Call& call) {
  if (caught::begins_session(call)) caught::ProgramSessions::opened();
  Session::life_begins();
}

std::string Session::part() const { return fmt::format("{}.rank{}", settings_.summary, world_rank_); }

} // namespace kumihimo::interpose
