// What does one thing after the other on a rank: processors, interfaces, and channels from an interface to a peer.
#pragma once

#include "base/fifo.hpp"
#include "goal/graph.hpp"

#include <cstdint>

namespace kumihimo::hosts {

// What a processor or an interface does: an operation of its rank, or taking a message that has arrived.
struct Task {
  std::uint32_t operation = 0; // of the rank, or the send of
  std::int32_t sender = -1;    // a message
  goal::Time work = 0;         // of its interface
  std::uint32_t message = 0;   // of a send: the network's name
};

// A processor or an interface, which does one task after the other.
struct Server {
  goal::Time free = 0;
  Fifo<Task> waiting;
};

// From an interface to a peer: one message after the other leaves the node.
struct PeerChannel {
  bool busy = false;
  Fifo<std::uint32_t> waiting; // sends
};

} // namespace kumihimo::hosts
