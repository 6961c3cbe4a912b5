// Programs that use MPI by sessions alone (MPI-4.0, section 11.3) have no MPI_COMM_WORLD: what is asked of it elsewhere
// (which process this is, how many there are, who a rank of a communicator is) is asked of a session of our own, which
// is open only while one of the program's is, and closed before the last of them.
//
// MPI_Session_init is local, so nothing is agreed on in it. MPI_Session_finalize may wait for other processes, but need
// not come at one time, or for the same reason, on any two: nothing of ours goes over MPI in it.
#pragma once

#include "mpi_hooks/call.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::mpi_hooks {

// How many sessions the program has open.
class ProgramSessions {
 public:
  static bool any() { return open_.load(std::memory_order_relaxed) > 0; }
  static void opened() { ++open_; }
  // About to close one: whether it is the last. Where the library does not close it, opened() takes it back.
  static bool closes_last() { return any() && --open_ == 0; }

 private:
  static inline std::atomic<std::int32_t> open_ = 0;
};

// On any thread but for close(), once made.
class OwnSession {
 public:
  // Null where the library opens none.
  static std::unique_ptr<OwnSession> open(const mpi::Library& library);
  ~OwnSession(); // closes it, and what is made of it
  OwnSession(const OwnSession&) = delete;
  OwnSession& operator=(const OwnSession&) = delete;

  // This process among those of "mpi://WORLD": the ranks that MPI_COMM_WORLD would have.
  std::int32_t rank() const { return rank_; }
  std::int32_t ranks() const { return ranks_; }
  Handle group() const { return world_; }
  // The ranks there of a communicator's processes, in its order; -1 for one of another job. `unknown` alone where the
  // library does not say.
  static constexpr std::int32_t unknown = -2;
  std::vector<std::int32_t> ranks_of(Handle communicator) const { return ranks_in(library_, communicator, world_); }
  static std::vector<std::int32_t> ranks_in(const mpi::Library& library, Handle communicator, Handle world);
  // A communicator of this process alone, on which errors are returned; or the library's error. The caller frees it.
  Result<Handle> make_alone() const;

 private:
  explicit OwnSession(const mpi::Library& library) : library_(library) {}
  int group_of(const char* set, Handle& group) const; // MPI's code

  mpi::Library library_;
  Handle session_ = 0, world_ = 0;
  std::int32_t rank_ = 0, ranks_ = 1;
};

inline bool begins_session(const Call& call) { return call.name == Name::Session_init; }
inline bool ends_session(const Call& call) { return call.name == Name::Session_finalize; }

} // namespace kumihimo::mpi_hooks
