// The time limit of calls that are in the MPI library, which waits for a lost peer without end. A thread looks how long
// each thread of the program has been in its call. Past the limit it names the call, and ends the job by MPI_Abort.
// Before MPI is initialised, and in programs that use MPI by sessions alone, it ends this process, which the launcher
// sees: there MPI_Abort itself was seen to wait. The thread exists only where a limit was asked for. It starts before
// MPI_Init, which may wait for a lost rank, too.
//
// A call that we run ourselves has the limit in its transport, which knows the awaited rank and ends in an MPI error.
// It is watched here as well, since it begins with agreements in the library.
#pragma once

#include "mpi_hooks/call.hpp"

#include <atomic>
#include <string>

namespace kumihimo::interpose {

class Watchdog {
 public:
  // For as long as the process lives, by the first limit that is given.
  static void begin(double seconds);
  // MPI is initialised: what a job is ended by. It stays.
  static void know(const mpi::Library& library) { known = &library; }
  static bool is_on() { return watches.load(std::memory_order_relaxed); }

  // This thread enters a call, and leaves it.
  static void enter(const mpi_hooks::Call& call) {
    if (is_on()) note(call);
  }
  static void leave();

 private:
  static void note(const mpi_hooks::Call& call);
  [[noreturn]] static void watch(double seconds);
  [[noreturn]] static void end(const std::string& what, double seconds);

  static std::atomic<bool> watches;
  static std::atomic<const mpi::Library*> known;
};

} // namespace kumihimo::interpose
