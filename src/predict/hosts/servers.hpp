// What does one thing after the other on a rank: processors, interfaces, and channels from an interface to a peer.
#pragma once

#include "goal/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

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
  std::deque<Task> waiting; // the next one first
};

// Operations in their order; without any so far it holds no memory of its own, which a deque would.
class OperationQueue {
 public:
  bool empty() const { return first_ == all_.size(); }
  std::size_t size() const { return all_.size() - first_; }
  std::uint32_t front() const { return all_[first_]; }
  void push(std::uint32_t operation) { all_.push_back(operation); }
  void pop() {
    if (++first_ < all_.size() && first_ < 64) return;
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(std::exchange(first_, 0)));
  }

 private:
  std::vector<std::uint32_t> all_;
  std::size_t first_ = 0;
};

// From an interface to a peer: one message after the other leaves the node.
struct PeerChannel {
  bool busy = false;
  OperationQueue waiting; // sends
};

} // namespace kumihimo::hosts
