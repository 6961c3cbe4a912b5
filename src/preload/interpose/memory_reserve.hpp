// A reserve of address space for programs that run out of memory: they must go on as far as without the interposer. A
// rank that stopped in the middle of a collective would leave the others waiting. So the reserve is released when an
// allocation of ours first fails. While it is gone, no rank of a communicator sets up anything new. If an allocation
// fails even so, the call fails and its transport ends.
#pragma once

#include "base/result.hpp"

#include <new>
#include <system_error>

namespace kumihimo::interpose {

class MemoryReserve {
 public:
  // Whether the reserve exists. Takes a new one if it was released and the system has memory again.
  static bool is_there();
  // Releases it if the heap has not even a few KiB, for an allocation of the MPI library that must not fail.
  static void leave_some();
};

// Its texts are so short that they need no heap.
inline Error out_of_memory() { return failed("out of memory", {}, "see ulimit -v"); }

// The result of `attempt`, or of `otherwise` if memory or threads run out in it. Not for code that calls functions of
// the program, whose exceptions must pass.
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
