// MPI sessions of a program (MPI-4.0, section 11.3). The library alone runs calls on their communicators: one of their
// ranks may be before MPI_Init, where objects of ours do nothing, while another is after it.
#pragma once

#include "mpi_hooks/call.hpp"

#include <atomic>
#include <cstdint>

namespace kumihimo::mpi_hooks {

class ProgramSessions {
 public:
  // Whether MPI_Session_init came before MPI_Init on this process: then MPI_Init need not wait for other processes.
  static bool came_first() { return came_first_.load(std::memory_order_relaxed); }
  // Whether a communicator was made from a session's group, or from such a communicator. Equal on all its ranks, unless
  // it has ranks of another job.
  static bool made_communicator(Handle communicator);

  // Around each hooked call, on any thread: before() last before the call goes on, after() first when it has returned.
  static void before(const HookedCall& call) {
    if (call.kind() == CallKind::communicator_end || call.name == Name::Session_init) [[unlikely]]
      note_before(call);
  }
  static void after(const HookedCall& call, int code) {
    if (call.kind() == CallKind::communicator && code == 0) [[unlikely]]
      note_made(call);
  }

 private:
  static void note_before(const HookedCall& call);
  static void note_made(const HookedCall& call);
  static void count();
  static inline std::atomic<bool> came_first_ = false;
  static inline std::atomic<std::int32_t> communicators_ = 0; // that live
};

} // namespace kumihimo::mpi_hooks
