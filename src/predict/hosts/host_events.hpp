// What will happen on ranks, in the order of time, and of equal times in the order in which it was planned.
#pragma once

#include "base/fifo.hpp"
#include "goal/graph.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

namespace kumihimo::hosts {

inline constexpr goal::Time never = std::numeric_limits<goal::Time>::max();

// matched: the receive of a send is posted. next: a server is free for the next task that waits. reach: a message is
// there to be taken. pause: of a channel, its end. end: of an offload. die: the rank is a node.
enum class HostStep : std::uint8_t { start, matched, next, hand_over, reach, arrive, pause, end, die };

struct HostEvent {
  goal::Time time = 0;
  std::uint64_t order = 0;           // of equal times the lower one is first
  std::int32_t rank = 0, sender = 0; // sender: of a program's hand_over the message, of pause the receiver
  std::uint32_t operation = 0; // of `rank`; of reach and arrive: the send; of next, pause: the number of the server
  HostStep step = HostStep::start;
};

class HostEvents {
 public:
  goal::Time due() const {
    return std::min(later_.empty() ? never : later_.top().time, at_once_.empty() ? never : at_once_.front().time);
  }
  // `event` without its order. Most are of the present, and need no heap: they come behind those planned before.
  void push(HostEvent event, goal::Time now) {
    event.order = order_++;
    if (event.time == now)
      at_once_.push(event);
    else
      later_.push(event);
  }
  HostEvent pop() {
    const bool at_once = !at_once_.empty() && (later_.empty() || IsLater{}(later_.top(), at_once_.front()));
    const HostEvent event = at_once ? at_once_.front() : later_.top();
    at_once ? at_once_.pop() : later_.pop();
    return event;
  }

 private:
  struct IsLater {
    bool operator()(const HostEvent& a, const HostEvent& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };
  std::priority_queue<HostEvent, std::vector<HostEvent>, IsLater> later_;
  Fifo<HostEvent> at_once_;
  std::uint64_t order_ = 0;
};

} // namespace kumihimo::hosts
