// The members of Network that fetch into the cache what an event will touch: on large networks each line would
// otherwise be waited for. They change nothing, so that GCC drops calls of them, unless they are always inline.
#pragma once

#include "packet/network.hpp"

namespace kumihimo::packet {

template <class Routes, std::size_t words>
[[gnu::always_inline]] inline void PacketSwitches<Routes, words>::prefetch_queue(std::uint32_t q) const {
  if (is_engine(q)) return __builtin_prefetch(&engines_[q - first_engine_]);
  __builtin_prefetch(&link_of(q));
  __builtin_prefetch(&slots_[static_cast<std::size_t>(q) * capacity_]);
}

template <class Routes, std::size_t words>
template <PacketEventKind kind>
[[gnu::always_inline]] inline void PacketSwitches<Routes, words>::prefetch_far(const PacketEvent& event) const {
  if constexpr (kind == PacketEventKind::done || kind == PacketEventKind::choose)
    if (event.output < links_.size()) __builtin_prefetch(&links_[event.output]);
  if constexpr (kind == PacketEventKind::delivered) __builtin_prefetch(&nodes_[event.output]);
  if constexpr (kind != PacketEventKind::choose) prefetch_queue(event.queue);
}

template <class Routes, std::size_t words>
template <PacketEventKind kind>
[[gnu::always_inline]] inline void PacketSwitches<Routes, words>::prefetch_mid(const PacketEvent& event) const {
  if constexpr (kind == PacketEventKind::done || kind == PacketEventKind::choose) {
    if (event.output >= links_.size()) return;
    const Link& link = links_[event.output];
    __builtin_prefetch(
        &fabric_.arriving[static_cast<std::size_t>(link.from) * static_cast<std::size_t>(fabric_.most_arriving)]);
  }
}

// What depends on an event's link and queue, which are at hand now: its queue's next packet asks for a link and may
// cross it; a link that is free takes another packet.
template <class Routes, std::size_t words>
template <PacketEventKind kind>
[[gnu::always_inline]] inline void PacketSwitches<Routes, words>::prefetch_soon(const PacketEvent& event) const {
  const std::uint32_t q = event.queue;
  constexpr bool leaves = kind == PacketEventKind::done || kind == PacketEventKind::delivered;
  const auto behind = [&](std::uint32_t o, std::uint32_t channel) {
    return &slots_[static_cast<std::size_t>(o << channel_bits | channel) * capacity_];
  };
  if constexpr (kind == PacketEventKind::done || kind == PacketEventKind::choose) {
    if (event.output >= links_.size()) return;
    const Link& link = links_[event.output];
    const std::uint32_t local = next_turn(all_asking(link), link.turn);
    if (local != no_queue) {
      prefetch_queue(queue_at(link.from, local));
      const bool may_lack_room = !Routes::adaptive || link.channel[channels - 1].count + 1U >= capacity_;
      for (std::uint32_t c = may_lack_room ? 0 : channels - 1; c < channels; ++c)
        if (any(link.asking[c])) __builtin_prefetch(behind(event.output, c));
    }
  }
  if constexpr (kind == PacketEventKind::choose) return;
  if (is_engine(q)) {
    const Engine& sender = engines_[q - first_engine_];
    if (sender.message != nothing) __builtin_prefetch(&flows_[sender.message]);
    return __builtin_prefetch(&nodes_[static_cast<std::size_t>(sender.vertex)]);
  }
  const Channel& channel = channel_of(q);
  if constexpr (kind == PacketEventKind::delivered) __builtin_prefetch(&flows_[slot(q, channel.head).message]);
  if (leaves && channel.count < 2) return;
  prefetch_hops(q, leaves ? 1 : 0);
}

// Of a packet in the queue behind a link.
template <class Routes, std::size_t words>
[[gnu::always_inline]] inline void PacketSwitches<Routes, words>::prefetch_hops(std::uint32_t q,
                                                                                std::uint32_t place) const {
  const Slot& packet = slot(q, channel_of(q).head + place);
  const std::int32_t v = link_of(q).to;
  std::array<RouteHop, Routes::most_hops> hops;
  const std::size_t count = routes_.hops(packet.route, packet.bits & axes_bits, v, hops.data());
  if (count == 0) return __builtin_prefetch(&nodes_[static_cast<std::size_t>(v)]);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t o = hops[i].output, channel = Routes::adaptive ? channels - 1 : hops[i].channel;
    __builtin_prefetch(&links_[o]);
    __builtin_prefetch(&slots_[static_cast<std::size_t>(o << channel_bits | channel) * capacity_]);
  }
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::prefetch_choices(std::size_t i, std::size_t size) const {
  asm volatile(""); // keeps calls
  if (i + 20 < size) prefetch_far<PacketEventKind::choose>({0, choice(i + 20), 0});
  if (i + 14 < size) prefetch_mid<PacketEventKind::choose>({0, choice(i + 14), 0});
  if (i + 8 < size) prefetch_soon<PacketEventKind::choose>({0, choice(i + 8), 0});
  if (i + 4 < size) prefetch_next<PacketEventKind::choose>({0, choice(i + 4), 0});
}

// With adaptive routing the packet that a free link takes asks other links, too.
template <class Routes, std::size_t words>
template <PacketEventKind kind>
[[gnu::always_inline]] inline void PacketSwitches<Routes, words>::prefetch_next(const PacketEvent& event) const {
  if constexpr (!Routes::adaptive || (kind != PacketEventKind::done && kind != PacketEventKind::choose)) return;
  if (event.output >= links_.size()) return;
  const Link& link = links_[event.output];
  const std::uint32_t local = next_turn(all_asking(link), link.turn);
  if (local == no_queue) return;
  const std::uint32_t q = queue_at(link.from, local);
  if (is_engine(q)) return;
  const Slot& packet = slot(q, channel_of(q).head);
  std::array<RouteHop, Routes::most_hops> hops;
  const std::size_t count = routes_.hops(packet.route, packet.bits & axes_bits, link.from, hops.data());
  for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(&links_[hops[i].output]);
}

} // namespace kumihimo::packet
