#include "mpi_hooks/mpi_lifetime.hpp"

#include "mpi_hooks/preload_check.hpp"

namespace kumihimo::mpi_hooks {

Life::Life(mpi::Library library, std::string_view otherwise) : library_(std::move(library)), otherwise_(otherwise) {
  begin();
}

std::vector<std::int32_t> Life::ranks_of(Handle communicator) const {
  if (own_session_) return own_session_->ranks_of(communicator);
  Handle world = 0;
  if (!has_world_ || library_.call.Comm_group(library_.constants.comm_world, &world) != 0) return {OwnSession::unknown};
  std::vector<std::int32_t> ranks = OwnSession::ranks_in(library_, communicator, world);
  library_.call.Group_free(&world);
  return ranks;
}

// One that was not here once stays so, or another rank that looks late would find it, and wait for what it has not
// done.
void Life::begin() {
  by_sessions_ = !mpi::is_running();
  has_world_ = false;
  if (!by_sessions_) return meet_world();
  if (!has_no_place_ && (own_session_ = OwnSession::open(library_))) {
    rank_ = own_session_->rank(), ranks_ = own_session_->ranks();
    return;
  }
  PreloadCheck::leave_sessions();
  rank_ = -1, ranks_ = 1;
  if (!std::exchange(has_no_place_, true))
    std::fprintf(stderr, "kumihimo: the MPI library refuses to open another session; %s\n", otherwise_.data());
}

void Life::meet_world() {
  if (!own_session_) {
    library_.call.Comm_rank(library_.constants.comm_world, &rank_);
    library_.call.Comm_size(library_.constants.comm_world, &ranks_);
  }
  has_world_ = true;
}

bool Life::pause() {
  if (ProgramSessions::any()) return false; // another thread has opened one meanwhile
  if (has_world_ || !end()) return false;
  return paused_ = true;
}

} // namespace kumihimo::mpi_hooks
