// The members of Network by which queues ask for links, arbiters choose, and packets cross. Includes the class: whoever
// makes a network includes this.
#pragma once

#include "packet/network.hpp"

namespace kumihimo::packet {

// Lists that are longer have pushed what was fetched for the first of them out of the cache.
inline constexpr std::size_t at_hand = 24;

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::ask_all() {
  const std::size_t size = fresh_.size();
  const bool many = prefetches_ && size > at_hand;
  for (std::size_t i = 0; i < size; ++i) {
    if (many && i + 16 < size) prefetch_queue(fresh_[i + 16]);
    if (many && i + 8 < size && !is_engine(fresh_[i + 8])) prefetch_hops(fresh_[i + 8], 0);
    ask(fresh_[i]);
  }
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::ask(std::uint32_t q) {
  Slot& packet = first_of(q);
  const std::int32_t v = vertex_of(q);
  const std::uint32_t local = local_of(q);
  std::array<RouteHop, Routes::most_hops> hops;
  const std::size_t count = routes_.hops(packet.route, packet.bits & axes_bits, v, hops.data());
  if (count == 0) {
    set(node_of(v).asking, local);
    return mark_node(v);
  }
  if (mixed_ && comes_late(q, packet, hops.data(), count)) return;
  for (std::size_t i = 0; i < count; ++i) {
    Link& link = links_[hops[i].output];
    const std::uint32_t channel = hops[i].channel | static_cast<std::uint32_t>(link.is_last);
    if (Routes::adaptive) set(link.asking[channels - 1], local);
    if (!Routes::adaptive || i == 0) set(link.asking[channel], local);
    if (!link.busy)
      mark(hops[i].output);
    else if (!Routes::adaptive)
      find_taken(link, local, packet);
  }
}

// A link that is faster than the one that the packet came by must wait, or would run out of bytes.
template <class Routes, std::size_t words>
bool PacketSwitches<Routes, words>::comes_late(std::uint32_t q, const Slot& packet, const RouteHop* hops,
                                               std::size_t count) {
  if (is_engine(q)) return false;
  const std::uint64_t bytes = bytes_of(packet);
  Time least = never;
  for (std::size_t i = 0; i < count; ++i) least = std::min(least, link_time(links_[hops[i].output].speed, bytes));
  const Time came = link_time(link_of(q).speed, bytes), start = time_of_slot(packet) + came - std::min(came, least);
  if (start <= now_) return false;
  channel_of(q).asking = false;
  events_.push(PacketEventKind::ready, {start, 0, q});
  return true;
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::may_choose(std::uint32_t o) {
  if (any(all_asking(links_[o]))) mark(o);
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::choose_all() {
  const std::size_t size = choosing_.size();
  const bool many = prefetches_ && size > at_hand;
  if constexpr (Routes::adaptive) {
    keys_.keys().clear();
    for (std::size_t i = 0; i < size; ++i) {
      if (many && i + 8 < size) __builtin_prefetch(&links_[choosing_[i + 8]]);
      keys_.keys().push_back(count(links_[choosing_[i]].asking[channels - 1]) << 32 | choosing_[i]);
    }
    if (size > 1) sort_keys();
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (many) prefetch_choices(i, size);
    choose_link(choice(i));
  }
  choosing_.clear();
  for (const std::int32_t v : choosing_nodes_) choose_delivery(v);
  choosing_nodes_.clear();
  if constexpr (Routes::adaptive) {
    for (std::size_t i = 0; i < fresh_.size(); ++i) {
      if (prefetches_ && i + 8 < fresh_.size()) prefetch_queue(fresh_[i + 8]);
      if (is_asking(fresh_[i])) find_waiting(fresh_[i]);
    }
    for (std::size_t i = 0; i < granted_.size(); ++i) {
      if (prefetches_ && i + 8 < granted_.size()) __builtin_prefetch(&links_[granted_[i + 8]]);
      find_waiting(links_[granted_[i]]);
    }
    granted_.clear();
  }
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::choose_link(std::uint32_t o) {
  Link& link = links_[o];
  link.chooses = false;
  if (link.busy) return;
  Mask fit{};
  std::uint32_t room = 0; // by channel, a bit
  for (std::uint32_t c = channels; c-- > 0;) {
    if (!any(link.asking[c]) || !has_room(o, c)) continue;
    room |= 1U << c;
    for (std::size_t word = 0; word < words; ++word) fit[word] |= link.asking[c][word];
    if (Routes::adaptive && c == channels - 1) break; // it serves all
  }
  const std::uint32_t local = next_turn(fit, link.turn);
  if (local == no_queue) return;
  std::uint32_t channel = channels - 1;
  while ((room >> channel & 1) == 0 || !has(link.asking[channel], local)) --channel;
  link.turn = static_cast<Local>((local + 1) % (64 * words));
  cross(o, queue_at(link.from, local), channel);
  if constexpr (Routes::adaptive)
    granted_.add(o);
  else
    find_waiting(link);
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::choose_delivery(std::int32_t v) {
  Node& node = node_of(v);
  node.chooses = false;
  while (node.busy < fabric_.engines && any(node.asking)) {
    if (node.delivery > now_) {
      if (node.wakes != node.delivery)
        events_.push(PacketEventKind::choose,
                     {node.delivery, static_cast<std::uint32_t>(links_.size()) + static_cast<std::uint32_t>(v), 0});
      node.wakes = node.delivery;
      return;
    }
    const std::uint32_t local = next_turn(node.asking, node.turn); // one asks
    node.turn = static_cast<Local>((local + 1) % (64 * words));
    clear(node.asking, local);
    start_delivery(v, queue_at(v, local));
  }
}

// Whether a slot of the channel is free behind the link. If not, the link chooses again when one is.
template <class Routes, std::size_t words>
bool PacketSwitches<Routes, words>::has_room(std::uint32_t o, std::uint32_t c) {
  Channel& channel = links_[o].channel[c];
  const std::uint32_t q = o << channel_bits | c;
  if (channel.count == capacity_) {
    channel.lacks_room = true;
    return false;
  }
  const Slot& free = slot(q, channel.head + channel.count);
  if (is_past(free)) return true;
  events_.push(PacketEventKind::choose, {time_of_slot(free), o, q});
  return false;
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::stop_asking(std::uint32_t q, const Slot& packet, std::uint32_t o) {
  const std::uint32_t local = local_of(q);
  const auto stop = [&](Link& link) {
    for (Mask& mask : link.asking) clear(mask, local);
    clear(link.waited, local);
  };
  if constexpr (Routes::adaptive) {
    std::array<RouteHop, Routes::most_hops> hops;
    const std::size_t count = routes_.hops(packet.route, packet.bits & axes_bits, links_[o].from, hops.data());
    for (std::size_t i = 0; i < count; ++i) stop(links_[hops[i].output]);
  } else {
    stop(links_[o]);
  }
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::cross(std::uint32_t o, std::uint32_t q, std::uint32_t c) {
  Link& link = links_[o];
  const Slot& packet = first_of(q);
  stop_asking(q, packet, o);
  const Pace& pace = paces_[link.speed];
  const bool full = (packet.bits & is_short) == 0;
  const std::uint64_t bytes = bytes_of(packet);
  const Time time = full ? pace.full : link_time(link.speed, bytes);
  if (is_engine(q)) {
    Engine& sender = engine_of(q);
    sender.asking = false;
    const Time gap = flows_[packet.message].gap;
    sender.free =
        now_ + std::max(time, time_of(bytes, node_of(sender.vertex).engine_rate)) + (full ? gap : gap * bytes / full_);
  } else {
    channel_of(q).asking = false, channel_of(q).leaving = true;
  }
  link.busy = true;
  link.message = packet.message;
  ++traffic_.packet_hops;
  use_.add(options_.links_over_time ? o : pace.link_class, now_, time);

  Channel& behind = link.channel[c];
  const std::uint32_t next = o << channel_bits | c;
  Slot& moved = slot(next, behind.head + behind.count);
  moved = packet;
  moved.bits = static_cast<std::uint8_t>((packet.bits & ~axes_bits) |
                                         routes_.cross(moved.route, packet.bits & axes_bits, link.ring_turn()));
  set_time(moved, now_ + pace.latency);
  // A packet before it that has not started to leave is still there when it comes.
  const bool is_behind = full_outlasts_hop_ && behind.last_is_full && behind.count > behind.leaving;
  if (!is_behind) events_.push(pace.ready, PacketEventKind::ready, {now_ + pace.latency, o, next});
  ++behind.count;
  behind.last_is_full = full;
  if (full) {
    link.full_packets += 1;
    if (link.full_packets == 0) [[unlikely]] // all 2^32 of them
      bytes_[o] += static_cast<std::uint64_t>(options_.packet_bytes) << 32;
    events_.push(pace.done, PacketEventKind::done, {now_ + time, o, q});
  } else {
    bytes_[o] += bytes - static_cast<std::uint64_t>(options_.header_bytes);
    events_.push(PacketEventKind::done, {now_ + time, o, q});
  }
}

// The packet stays first in its queue until it is delivered.
template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::start_delivery(std::int32_t v, std::uint32_t q) {
  channel_of(q).asking = false, channel_of(q).leaving = true;
  Node& node = node_of(v);
  ++node.busy;
  const std::uint64_t bytes = bytes_of(first_of(q));
  const std::uint16_t speed = link_of(q).speed;
  const bool usual = bytes == full_ && node.engine_rate == fabric_.usual_engine;
  const Time time =
      usual ? paces_[speed].delivery : std::max(time_of(bytes, node.engine_rate), link_time(speed, bytes));
  if (node.injection_rate > 0) node.delivery = now_ + time_of(bytes, node.injection_rate);
  events_.push(usual ? paces_[speed].delivered : PacketEvents::none, PacketEventKind::delivered,
               {now_ + time, static_cast<std::uint32_t>(v), q});
}

// E2: a packet that became ready now at links that are taken.
template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::find_waiting(std::uint32_t q) {
  Slot& packet = first_of(q);
  std::array<RouteHop, Routes::most_hops> hops;
  const std::size_t count = routes_.hops(packet.route, packet.bits & axes_bits, vertex_of(q), hops.data());
  for (std::size_t i = 0; i < count; ++i)
    if (Link& link = links_[hops[i].output]; link.busy) find_taken(link, local_of(q), packet);
}

// And packets that wait at a link that has been taken now.
template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::find_waiting(Link& link) {
  Mask left = all_asking(link);
  for (std::size_t word = 0; word < words; ++word) left[word] &= ~link.waited[word];
  for_each(left, [&](std::uint32_t local) { find_taken(link, local, first_of(queue_at(link.from, local))); });
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::find_taken(Link& link, std::uint32_t local, Slot& packet) {
  if (packet.message == link.message) return;
  set(link.waited, local);
  link.ever_waited = true;
  packet.bits |= has_waited;
}

} // namespace kumihimo::packet
