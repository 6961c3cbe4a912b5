// Ranks as threads of one process, for tests: the strictest transport. Sends are synchronous (complete only when the
// receiver has taken the bytes out of the sender's own memory), nothing is buffered, and every message waits for
// exactly the partner with its key. A deadlock is found at once and is an error that names who waits; nothing ever
// hangs. On demand, events are taken in random order, pieces have random lengths, and ranks pause at random.
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
  Seconds timeout{60};    // for user functions that never return; deadlocks need none
  bool gathers = false;   // sends of several runs are taken as they are
  bool offloads = true;   // has a collective engine
};

class Switchboard;

// The wires between the ranks. transport(r) is to be driven by one thread; it lives as long as the Loopback.
class Loopback {
 public:
  Loopback(std::int32_t ranks, const LoopbackOptions& options);
  ~Loopback();
  Transport& transport(Rank rank);
  // The ranks that have each lane, needed for offload alone.
  void set_participants(LaneId lane, std::vector<Rank> ranks);
  // This rank starts no more messages. With an error: it has failed, and so do all.
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
