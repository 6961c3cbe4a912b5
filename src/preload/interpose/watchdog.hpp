// The time limit (--timeout) of calls in the MPI library, which waits for a lost rank for ever. A thread checks how
// long each thread of the program has been in its call. After the limit it names the call and ends the job by
// MPI_Abort. Before MPI_Init, and in programs with sessions only, MPI_Abort may wait itself. There it ends this
// process, which the launcher notices. The thread exists only with a limit. It starts before MPI_Init, which may wait
// for a lost rank, too.
//
// A call that runs by a plan has the limit in its transport, which knows the awaited rank and returns an MPI error. It
// is watched here as well, because it begins with agreements in the library.
#pragma once

#include "mpi_hooks/call.hpp"

#include <atomic>
#include <string>

namespace kumihimo::interpose {

class Watchdog {
 public:
  // Starts the thread, with the first limit given. It runs until the process ends.
  static void begin(double seconds);
  // Gives the library that ends the job, after MPI_Init.
  static void know(const mpi::Library& library) { known = &library; }
  static bool is_on() { return watches.load(std::memory_order_relaxed); }

  // Called when this thread enters a call and leaves it.
  static void enter(const mpi_hooks::HookedCall& call) {
    if (is_on()) note(call);
  }
  static void leave();

  // Tells `kumihimo run` by a file that this process ends the job, with a limit or without, so that a launcher which
  // waits for a lost rank is ended, too; and that the program goes on nevertheless.
  static void give_up();
  static void go_on();

 private:
  static void note(const mpi_hooks::HookedCall& call);
  [[noreturn]] static void watch(double seconds);
  [[noreturn]] static void end(const std::string& what, double seconds);

  static std::atomic<bool> watches;
  static std::atomic<const mpi::Library*> known;
};

} // namespace kumihimo::interpose
