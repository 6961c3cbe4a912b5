// The events of a network that are still to come. Nearly all lie one of few delays ahead: the time of a full packet on
// a link, the latency of a hop. Those of one delay come in the order of their times by themselves, so that each delay
// and kind has a lane, first in first out; the next events are the first of the lanes. What lies another delay ahead is
// in a heap.
#pragma once

#include "packet/options.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>

namespace kumihimo::packet {

inline constexpr Time never = std::numeric_limits<Time>::max();

// done: a packet's tail has left its queue, by a link. delivered: to the node. ready: its head is at the arbiter.
// engine: it is free. choose: a link or a node may choose again.
enum class PacketEventKind : std::uint8_t { done, delivered, ready, engine, choose };

struct PacketEvent {
  Time time = 0;
  std::uint32_t output = 0; // done, choose: the link
  std::uint32_t queue = 0;  // choose of a node, delivered: `output` is the vertex
};

class PacketEvents {
 public:
  static constexpr std::size_t most_lanes = 16;

  // The lane of events that are pushed this delay ahead; `none` where there are too many.
  static constexpr std::uint8_t none = 0xFF;
  std::uint8_t lane_of(Time delay, PacketEventKind kind) {
    for (std::size_t lane = 0; lane < count_; ++lane)
      if (lanes_[lane].delay == delay && lanes_[lane].kind == kind) return static_cast<std::uint8_t>(lane);
    if (count_ == most_lanes) return none;
    lanes_[count_].delay = delay, lanes_[count_].kind = kind;
    first_[count_] = never;
    return static_cast<std::uint8_t>(count_++);
  }

  // event.time: now and the lane's delay.
  void push(std::uint8_t lane, PacketEventKind kind, const PacketEvent& event) {
    if (lane == none) [[unlikely]]
      return push(kind, event);
    Lane& to = lanes_[lane];
    if (to.head == to.tail) first_[lane] = event.time;
    if (to.tail - to.head > to.mask) [[unlikely]]
      to.grow();
    to.ring[to.tail++ & to.mask] = event;
  }
  [[gnu::noinline]] void push(PacketEventKind kind, const PacketEvent& event) { others_.push({event, kind}); }

  Time next() const {
    Time least = others_.empty() ? never : others_.top().event.time;
    for (std::size_t lane = 0; lane < count_; ++lane) least = std::min(least, first_[lane]);
    return least;
  }

  // All events of this time: by.happen<kind>(event), which may push later ones. Before it by.prefetch_far<kind>(event)
  // and by.prefetch_soon<kind>(event) are called for events that are taken soon.
  template <class By>
  std::uint64_t take(Time now, By& by) {
    std::uint64_t count = 0;
    for (std::size_t lane = 0; lane < count_; ++lane) {
      if (first_[lane] != now) continue;
      switch (lanes_[lane].kind) {
      case PacketEventKind::done: count += drain<PacketEventKind::done>(lane, now, by); break;
      case PacketEventKind::delivered: count += drain<PacketEventKind::delivered>(lane, now, by); break;
      case PacketEventKind::ready: count += drain<PacketEventKind::ready>(lane, now, by); break;
      case PacketEventKind::engine: count += drain<PacketEventKind::engine>(lane, now, by); break;
      case PacketEventKind::choose: count += drain<PacketEventKind::choose>(lane, now, by); break;
      }
    }
    if (!others_.empty() && others_.top().event.time == now) [[unlikely]]
      count += take_others(now, by);
    return count;
  }

 private:
  static constexpr std::size_t far_ahead = 20, mid_ahead = 14, soon_ahead = 9, next_ahead = 4;
  struct Lane {
    Time delay = 0;
    PacketEventKind kind = PacketEventKind::done;
    std::vector<PacketEvent> ring = std::vector<PacketEvent>(64); // a power of two
    std::size_t mask = ring.size() - 1, head = 0, tail = 0;
    [[gnu::noinline]] void grow() {
      std::vector<PacketEvent> larger(2 * ring.size());
      for (std::size_t i = head; i < tail; ++i) larger[i & (larger.size() - 1)] = ring[i & mask];
      ring.swap(larger);
      mask = ring.size() - 1;
    }
  };
  struct Other {
    PacketEvent event;
    PacketEventKind kind = PacketEventKind::done;
  };
  struct Later {
    bool operator()(const Other& a, const Other& b) const { return a.event.time > b.event.time; }
  };

  template <class By>
  [[gnu::noinline]] std::uint64_t take_others(Time now, By& by) {
    std::uint64_t count = 0;
    while (!others_.empty() && others_.top().event.time == now) {
      const auto [event, kind] = others_.top();
      others_.pop();
      switch (kind) {
      case PacketEventKind::done: by.template happen<PacketEventKind::done>(event); break;
      case PacketEventKind::delivered: by.template happen<PacketEventKind::delivered>(event); break;
      case PacketEventKind::ready: by.template happen<PacketEventKind::ready>(event); break;
      case PacketEventKind::engine: by.template happen<PacketEventKind::engine>(event); break;
      case PacketEventKind::choose: by.template happen<PacketEventKind::choose>(event); break;
      }
      ++count;
    }
    return count;
  }

  template <PacketEventKind kind, class By>
  std::uint64_t drain(std::size_t lane, Time now, By& by) {
    Lane& from = lanes_[lane];
    std::uint64_t count = 0;
    do {
      const PacketEvent event = from.ring[from.head++ & from.mask];
      if (by.prefetches()) {
        if (from.head + far_ahead < from.tail)
          by.template prefetch_far<kind>(from.ring[(from.head + far_ahead) & from.mask]);
        if (from.head + mid_ahead < from.tail)
          by.template prefetch_mid<kind>(from.ring[(from.head + mid_ahead) & from.mask]);
        if (from.head + soon_ahead < from.tail)
          by.template prefetch_soon<kind>(from.ring[(from.head + soon_ahead) & from.mask]);
        if (from.head + next_ahead < from.tail)
          by.template prefetch_next<kind>(from.ring[(from.head + next_ahead) & from.mask]);
      }
      by.template happen<kind>(event);
      ++count;
    } while (from.head != from.tail && from.ring[from.head & from.mask].time == now);
    first_[lane] = from.head == from.tail ? never : from.ring[from.head & from.mask].time;
    return count;
  }

  std::size_t count_ = 0; // of lanes
  std::array<Time, most_lanes> first_{};
  std::array<Lane, most_lanes> lanes_;
  std::priority_queue<Other, std::vector<Other>, Later> others_;
};

} // namespace kumihimo::packet
