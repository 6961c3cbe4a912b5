// The events of a network that are still to come. Nearly all lie one of few delays ahead: the time of a full packet on
// a link, the latency of a hop. Those of one delay come in the order of their times by themselves, so that each delay
// has a lane, first in first out; the next events are the first of the lanes. What lies another delay ahead is in a
// heap.
#pragma once

#include "packet/options.hpp"

#include <algorithm>
#include <limits>
#include <queue>

namespace kumihimo::packet {

inline constexpr Time never = std::numeric_limits<Time>::max();

struct Event {
  Time time = 0;
  std::uint32_t output = 0;
  std::uint32_t queue = 0; // the upper bits: the kind
};

class Events {
 public:
  static constexpr std::size_t most_lanes = 16;

  // The lane of events that are pushed this delay ahead; `none` where there are too many.
  static constexpr std::uint8_t none = 0xFF;
  std::uint8_t lane_of(Time delay) {
    const auto found = std::find(delays_.begin(), delays_.end(), delay);
    if (found != delays_.end()) return static_cast<std::uint8_t>(found - delays_.begin());
    if (delays_.size() == most_lanes) return none;
    delays_.push_back(delay);
    lanes_.emplace_back();
    first_.push_back(never);
    return static_cast<std::uint8_t>(delays_.size() - 1);
  }

  // event.time: now and the lane's delay.
  void push(std::uint8_t lane, const Event& event) {
    if (lane == none) return push(event);
    Lane& to = lanes_[lane];
    if (to.head == to.tail) first_[lane] = event.time;
    if (to.tail - to.head == to.ring.size()) to.grow();
    to.ring[to.tail++ & (to.ring.size() - 1)] = event;
  }
  void push(const Event& event) { others_.push(event); }

  Time next() const {
    Time least = others_.empty() ? never : others_.top().time;
    for (const Time first : first_) least = std::min(least, first);
    return least;
  }

  // All events of this time: fn(event), which may push later ones. Before it far(event) and soon(event) are called for
  // events that are likely to be taken soon.
  template <class Far, class Soon, class Fn>
  std::uint64_t take(Time now, Far&& far, Soon&& soon, Fn&& fn) {
    std::uint64_t count = 0;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (first_[lane] != now) continue;
      while (first_[lane] == now) {
        Lane& from = lanes_[lane];
        const std::size_t mask = from.ring.size() - 1;
        const Event event = from.ring[from.head & mask];
        ++from.head;
        if (from.head + far_ahead < from.tail) far(from.ring[(from.head + far_ahead) & mask]);
        if (from.head + soon_ahead < from.tail) soon(from.ring[(from.head + soon_ahead) & mask]);
        first_[lane] = from.head == from.tail ? never : from.ring[from.head & mask].time;
        fn(event);
        ++count;
      }
    }
    while (!others_.empty() && others_.top().time == now) {
      const Event event = others_.top();
      others_.pop();
      fn(event);
      ++count;
    }
    return count;
  }

 private:
  static constexpr std::size_t far_ahead = 16, soon_ahead = 6;
  struct Lane {
    std::vector<Event> ring = std::vector<Event>(64); // a power of two
    std::size_t head = 0, tail = 0;
    void grow() {
      std::vector<Event> larger(2 * ring.size());
      for (std::size_t i = head; i < tail; ++i) larger[i & (larger.size() - 1)] = ring[i & (ring.size() - 1)];
      ring.swap(larger);
    }
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const { return a.time > b.time; }
  };

  std::vector<Time> delays_, first_; // by lane
  std::vector<Lane> lanes_;
  std::priority_queue<Event, std::vector<Event>, Later> others_;
};

} // namespace kumihimo::packet
