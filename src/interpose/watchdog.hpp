// The time limit of calls that are in the MPI library, which waits for a lost peer without end. A thread looks at how
// long each thread of the program has been in its call; past the limit it says which call of whom, and ends the job by
// MPI_Abort. It exists only where a limit was asked for.
//
// A call that we run ourselves has the limit in its transport, which knows who is awaited and ends in an MPI error; it
// is watched here as well, since it begins with agreements in the library.
#pragma once

#include "caught/call.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace kumihimo::interpose {

class Watchdog {
 public:
  Watchdog(const mpi::Library& library, double seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // This thread enters a call, and leaves it.
  static void enter(const caught::Call& call) {
    if (watches.load(std::memory_order_relaxed)) note(call);
  }
  static void leave();

 private:
  static void note(const caught::Call& call);
  void watch();
  void end(const std::string& what);

  static std::atomic<bool> watches;
  const mpi::Library& library_;
  double seconds_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stops_ = false;
  std::thread thread_;
};

} // namespace kumihimo::interpose
