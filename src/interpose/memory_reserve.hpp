// What becomes of a program that runs out of memory or threads: it goes on as far as it would without us. Memory runs
// out in the middle of what the ranks do together, where one that stopped would leave the others waiting. So address
// space is set aside, and given up when an allocation of ours fails first; while it is gone nothing new is set up, on
// all ranks of a communicator alike. What fails even so is an error of the call, and ends the transport that it uses.
#pragma once

#include "base/result.hpp"

#include <new>
#include <system_error>

namespace kumihimo::interpose {

class MemoryReserve {
 public:
  // Whether it is there; taken anew where it was given up and the system has memory again.
  static bool is_there();
  // Gives it up if the heap has not even a few KiB, for an allocation of the MPI library that must not fail.
  static void leave_some();
};

// In words so short that they need no memory of the heap's.
inline Error out_of_memory() { return failed("out of memory", {}, "see ulimit -v"); }

// The answer of `attempt`, or of `otherwise` where memory or threads run out in it. Not around what calls functions of
// the program's: their exceptions go through.
template <class Attempt, class Otherwise>
auto attempted(Attempt&& attempt, Otherwise&& otherwise) -> decltype(attempt()) {
  try {
    return attempt();
  } catch (const std::bad_alloc&) {
  } catch (const std::system_error&) {
  }
  return otherwise();
}

} // namespace kumihimo::interpose
