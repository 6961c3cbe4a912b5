// Ranks as threads of one process, or driven by turns on one thread, for tests: the strictest transport. Sends are
// synchronous: they complete only when the receiver has taken the bytes out of the sender's memory. Nothing is
// buffered. A put takes effect only in progress() of its sender. A deadlock is found at once; the error names the ranks
// that wait and what for. Targets of early receives are filled with wrong bytes at the start of an instance. With
// `delays` events come in random order, pieces have random lengths, flags come later than their data, and ranks pause.
#pragma once

#include "base/units.hpp"
#include "transport/transport.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace kumihimo::transport {

struct LoopbackOptions {
  bool delays = false;
  std::uint64_t seed = 1; // of the delays
  Seconds timeout{60};    // against user functions that never return; deadlocks are found without it
  bool gathers = false;   // takes sends of several pieces
  bool offloads = true;   // has an offload engine
  bool by_turns = false;  // one thread drives all ranks: idle() returns at once, and the seed alone decides the order
};

class Switchboard;

// The transports of all ranks. One thread drives transport(r), or all by turns; they exist as long as the Loopback.
class Loopback {
 public:
  Loopback(std::int32_t ranks, const LoopbackOptions& options);
  ~Loopback();
  Transport& transport(Rank rank);
  // The ranks that have a lane; needed for offload only.
  void set_participants(LaneId lane, std::vector<Rank> ranks);
  // This rank starts no more messages. With an error, all ranks fail.
  void leave(Rank rank);
  void leave(Rank rank, const Error& error);
  // The first failure of any rank.
  Status outcome() const;

 private:
  std::unique_ptr<Switchboard> board_;
  std::vector<std::unique_ptr<Transport>> transports_;
};

// fn(rank, transport) on a thread for each rank; the first error of any is everybody's.
Status run_ranks(Loopback& loopback, std::int32_t ranks, const std::function<Status(Rank, Transport&)>& fn);

} // namespace kumihimo::transport
