// The end of a network, whose ranks close no connection while another needs it: to get its last bytes, or to hand on
// its own. So they wait for all to come. A rank that is lost does not come, and then the others leave.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

namespace kumihimo::mpi_transport {

struct ClosingCalls {
  std::function<bool()> move;  // what this rank has under way; false: it leaves, because it has lost a peer
  std::function<bool()> ready; // nothing is under way here: this rank may come to the barrier
  std::function<bool()> enter; // the barrier; false: its library refuses
  std::function<bool()> ended; // the barrier, which every rank has entered
  std::function<bool()> lost;  // whether a rank will not come; asked now and then
};

struct ClosingEnd {
  bool entered = false, ended = false; // the barrier
};

// Ranks behind a link that was cut may come late. `patience`: how long all networks of a process may wait for nothing.
ClosingEnd close_together(const ClosingCalls& calls, std::atomic<std::chrono::milliseconds>& patience);

// That of this process, in which only the first waits so long.
std::atomic<std::chrono::milliseconds>& closing_patience();

} // namespace kumihimo::mpi_transport
