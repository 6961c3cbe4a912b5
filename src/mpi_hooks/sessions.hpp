// Sessions of MPI in a program (MPI-4.0, section 11.3). The communicators that it makes of them are the library's
// alone: one of their ranks may be before MPI_Init, where objects of ours do nothing, while another is after it.
#pragma once

#include "mpi_hooks/call.hpp"

#include <atomic>
#include <cstdint>

namespace kumihimo::mpi_hooks {

class ProgramSessions {
 public:
  // MPI_Session_init came before MPI_Init on this process: then MPI_Init need not wait for other processes.
  static bool came_first() { return came_first_.load(std::memory_order_relaxed); }
  // Whether a communicator was made of a session's group, or of such a communicator. On all its ranks alike, unless it
  // has ranks of another job.
  static bool made_communicator(Handle communicator);

  // Around each call that makes or ends a communicator, and MPI_Session_init. On any thread.
  static void before(const Call& call);
  static void after(const Call& call, int code);

 private:
  static void count();
  static inline std::atomic<bool> came_first_ = false;
  static inline std::atomic<std::int32_t> communicators_ = 0; // that live
};

} // namespace kumihimo::mpi_hooks
