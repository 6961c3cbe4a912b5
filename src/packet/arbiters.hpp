// The members of Network by which queues ask for links, arbiters choose, and packets cross. Includes the class: whoever
// makes a network includes this.
#pragma once

#include "packet/network.hpp"

namespace kumihimo::packet {

template <class Routes, std::size_t words>
void Network<Routes, words>::ask(std::uint32_t q) {
  const Slot& packet = first_of(q);
  const std::int32_t v = vertex_of(q);
  const std::uint32_t local = local_of(q);
  std::array<Hop, Routes::most_hops> hops;
  const std::size_t count = routes_.hops(packet.route, packet.bits & axes_bits, v, hops.data());
  if (count == 0) {
    set(node_of(v).asking, local);
    return mark_node(v);
  }
  if (mixed_ && comes_late(q, packet, hops.data(), count)) return;
  for (std::size_t i = 0; i < count; ++i) {
    Link& link = links_[hops[i].output];
    set(link.asking[Routes::adaptive ? channels - 1 : hops[i].channel], local);
    if (Routes::adaptive && i == 0) set(link.asking[hops[i].channel], local);
    if (!link.busy) mark(hops[i].output);
  }
}

// A link that is faster than the one that the packet came by must wait, or would run out of bytes.
template <class Routes, std::size_t words>
bool Network<Routes, words>::comes_late(std::uint32_t q, const Slot& packet, const Hop* hops, std::size_t count) {
  if (is_engine(q)) return false;
  const std::uint64_t bytes = bytes_of(packet);
  Time least = never;
  for (std::size_t i = 0; i < count; ++i) least = std::min(least, link_time(links_[hops[i].output].speed, bytes));
  const Time came = link_time(link_of(q).speed, bytes), start = time_of_slot(packet) + came - std::min(came, least);
  if (start <= now_) return false;
  channel_of(q).asking = false;
  events_.push({start, 0, q | ready << kind_shift});
  return true;
}

template <class Routes, std::size_t words>
void Network<Routes, words>::choose_all() {
  granted_.clear();
  if constexpr (Routes::adaptive) {
    keys_.clear();
    for (const std::uint32_t o : choosing_) {
      std::uint64_t asking = 0;
      for (const std::uint64_t word : links_[o].asking[channels - 1])
        asking += static_cast<std::uint64_t>(std::popcount(word));
      keys_.push_back(asking << 32 | o);
    }
    if (keys_.size() > 1) std::sort(keys_.begin(), keys_.end());
    for (const std::uint64_t key : keys_) choose_link(static_cast<std::uint32_t>(key));
  } else {
    for (const std::uint32_t o : choosing_) choose_link(o);
  }
  choosing_.clear();
  for (const std::int32_t v : choosing_nodes_) choose_delivery(v);
  choosing_nodes_.clear();
}

template <class Routes, std::size_t words>
void Network<Routes, words>::choose_link(std::uint32_t o) {
  Link& link = links_[o];
  link.chooses = false;
  if (link.busy) return;
  Mask fit{};
  std::uint32_t room = 0; // by channel, a bit
  for (std::uint32_t c = channels; c-- > 0;) {
    if (!any(link.asking[c]) || !has_room(o, c)) continue;
    room |= 1U << c;
    for (std::size_t word = 0; word < words; ++word) fit[word] |= link.asking[c][word];
  }
  const std::optional<std::uint32_t> turn = next_turn(fit, link.turn);
  if (!turn) return;
  const std::uint32_t local = *turn;
  std::uint32_t channel = channels - 1;
  while ((room >> channel & 1) == 0 || (link.asking[channel][local / 64] >> (local % 64) & 1) == 0) --channel;
  link.turn = static_cast<Local>((local + 1) % (64 * words));
  cross(o, queue_at(link.from, local), channel);
}

template <class Routes, std::size_t words>
void Network<Routes, words>::choose_delivery(std::int32_t v) {
  Node& node = node_of(v);
  node.chooses = false;
  while (node.busy < fabric_.engines && any(node.asking)) {
    if (node.delivery > now_) {
      if (node.wakes != node.delivery)
        events_.push({node.delivery, static_cast<std::uint32_t>(links_.size()) + static_cast<std::uint32_t>(v),
                      choose << kind_shift});
      node.wakes = node.delivery;
      return;
    }
    const std::uint32_t local = *next_turn(node.asking, node.turn); // one asks
    node.turn = static_cast<Local>((local + 1) % (64 * words));
    clear(node.asking, local);
    start_delivery(v, queue_at(v, local));
  }
}

// Whether a slot of the channel is free behind the link. If not, the link chooses again when one is.
template <class Routes, std::size_t words>
bool Network<Routes, words>::has_room(std::uint32_t o, std::uint32_t c) {
  Channel& channel = links_[o].channel[c];
  const std::uint32_t q = o << channel_bits | c;
  if (channel.count == capacity_) {
    channel.lacks_room = true;
    return false;
  }
  const Time back = time_of_slot(slot(q, channel.head + channel.count));
  if (back <= now_) return true;
  events_.push({back, o, q | choose << kind_shift});
  return false;
}

template <class Routes, std::size_t words>
void Network<Routes, words>::stop_asking(std::uint32_t q, const Slot& packet, std::uint32_t o) {
  const std::uint32_t local = local_of(q);
  const auto stop = [&](Link& link) {
    for (Mask& mask : link.asking) clear(mask, local);
    clear(link.waited, local);
  };
  if constexpr (Routes::adaptive) {
    std::array<Hop, Routes::most_hops> hops;
    const std::size_t count = routes_.hops(packet.route, packet.bits & axes_bits, links_[o].from, hops.data());
    for (std::size_t i = 0; i < count; ++i) stop(links_[hops[i].output]);
  } else {
    stop(links_[o]);
  }
}

template <class Routes, std::size_t words>
void Network<Routes, words>::cross(std::uint32_t o, std::uint32_t q, std::uint32_t c) {
  Link& link = links_[o];
  const Slot& packet = first_of(q);
  stop_asking(q, packet, o);
  const Speed& speed = fabric_.speeds[link.speed];
  const Lanes& lanes = lanes_[link.speed];
  const bool full = (packet.bits & is_short) == 0;
  const std::uint64_t bytes = bytes_of(packet);
  const Time time = full ? lanes.full_time : time_of(bytes, speed.femtoseconds);
  if (is_engine(q)) {
    Engine& sender = engine_of(q);
    sender.asking = false;
    const Time gap = flows_[packet.message].gap;
    sender.free = now_ + std::max(time, time_of(bytes, fabric_.engine[static_cast<std::size_t>(sender.vertex)])) +
                  (full ? gap : gap * bytes / full_);
  } else {
    channel_of(q).asking = false, channel_of(q).leaving = true;
  }
  link.busy = true;
  link.message = packet.message;
  bytes_[o] += bytes - static_cast<std::uint64_t>(options_.header_bytes);
  granted_.push_back(o);
  ++traffic_.packet_hops;
  use_.add(options_.links_over_time ? o : static_cast<std::size_t>(speed.link_class), now_, time);

  Channel& behind = link.channel[c];
  const std::uint32_t next = o << channel_bits | c;
  Slot& moved = slot(next, behind.head + behind.count);
  moved = packet;
  moved.bits = static_cast<std::uint8_t>((packet.bits & ~axes_bits) |
                                         routes_.cross(moved.route, packet.bits & axes_bits, o, link.from));
  set_time(moved, now_ + speed.latency);
  // A packet before it that has not started to leave is still there when it comes.
  const bool is_behind = full_outlasts_hop_ && behind.last_is_full && behind.count > behind.leaving;
  if (!is_behind) events_.push(lanes.hop, {now_ + speed.latency, o, next | ready << kind_shift});
  ++behind.count;
  behind.last_is_full = full;
  events_.push(full ? lanes.full : Events::none, {now_ + time, o, q | done << kind_shift});
}

// The packet stays first in its queue until it is delivered.
template <class Routes, std::size_t words>
void Network<Routes, words>::start_delivery(std::int32_t v, std::uint32_t q) {
  channel_of(q).asking = false, channel_of(q).leaving = true;
  ++node_of(v).busy;
  const Slot& packet = first_of(q);
  const std::uint64_t own = fabric_.engine[static_cast<std::size_t>(v)], bytes = bytes_of(packet);
  const std::uint16_t speed = link_of(q).speed;
  const bool usual = bytes == full_ && own == fabric_.usual_engine;
  const Time time = usual ? lanes_[speed].delivery_time : std::max(time_of(bytes, own), link_time(speed, bytes));
  if (injection(v) > 0) node_of(v).delivery = now_ + time_of(bytes, injection(v));
  events_.push(
      usual ? lanes_[speed].delivery : Events::none,
      {now_ + time, static_cast<std::uint32_t>(links_.size()) + static_cast<std::uint32_t>(v), q | done << kind_shift});
}

// E2, after all have chosen: packets that became ready now at a link that is taken, and those that wait at a link that
// another message has taken now.
template <class Routes, std::size_t words>
void Network<Routes, words>::count_waiting() {
  for (const std::uint32_t q : fresh_) {
    if (!is_asking(q)) continue;
    const Slot& packet = first_of(q);
    std::array<Hop, Routes::most_hops> hops;
    const std::size_t count = routes_.hops(packet.route, packet.bits & axes_bits, vertex_of(q), hops.data());
    for (std::size_t i = 0; i < count; ++i)
      if (Link& link = links_[hops[i].output]; link.busy) find_taken(link, local_of(q));
  }
  for (const std::uint32_t o : granted_) {
    Link& link = links_[o];
    Mask left = all_asking(link);
    for (std::size_t word = 0; word < words; ++word) left[word] &= ~link.waited[word];
    for_each(left, [&](std::uint32_t local) { find_taken(link, local); });
  }
}

template <class Routes, std::size_t words>
void Network<Routes, words>::find_taken(Link& link, std::uint32_t local) {
  Slot& packet = first_of(queue_at(link.from, local));
  if (packet.message == link.message) return;
  set(link.waited, local);
  link.ever_waited = true;
  packet.bits |= has_waited;
}

} // namespace kumihimo::packet
