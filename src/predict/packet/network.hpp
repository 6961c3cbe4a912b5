// Packets on a fabric, event by event. Virtual cut-through: a packet goes on as soon as its head is there, the next
// link is free, and the buffer behind that has room for all of it (a credit).
//
//   queue    Packets of a channel wait first in, first out; only the first one asks for an output. It is ready when its
//            head has come, or so much later that its tail never lacks on a faster link. Its place is free, and the
//            next packet may ask, when its tail has left; the credit is back one hop latency after that.
//   link     Carries one packet at a time. Its arbiter serves the queues of its vertex in turn (round-robin), from a
//            first turn that the seed draws. At the end of the way as many packets leave at once as there are engines.
//   engine   Takes messages of its node in the order in which they came, and sends one to its end before the next. It
//   is
//            busy with a packet for the longer of its own and the first link's time, and the message's gap.
//
// At one time all that has happened counts before arbiters choose. With adaptive routing a packet asks all outputs on
// its way; of outputs that choose at the same time, those that fewer packets ask come first.
#pragma once

#include "base/link_pool.hpp"
#include "packet/events.hpp"
#include "packet/line_vector.hpp"
#include "packet/network_state.hpp"
#include "packet/routes.hpp"
#include "packet/sorted_keys.hpp"
#include "packet/utilisation.hpp"
#include "packet/worklist.hpp"

#include <bit>
#include <cassert>
#include <type_traits>
#include <utility>

namespace kumihimo::packet {

template <class Routes, std::size_t words> // `words` of 64 queues at a vertex
class PacketSwitches {
 public:
  PacketSwitches(const Fabric& fabric, const PacketOptions& options);

  // A message that an engine may take from `now` on, which is not before the last time; the answer names it until the
  // advance after the one that delivered it. `from` and `to`: different nodes of the job.
  std::uint32_t submit(Time now, const RawMessage& message);

  // From `now` on, which is as in submit(), the node's engines start no further packet: their messages, and those that
  // no engine has taken, are neither sent nor delivered.
  void stop(Time now, std::int32_t node);

  Time next() const { return next_; } // when something happens; never: nothing will
  void advance();                     // all that happens at next()

  // Of the last advance, in the order of their submission: messages whose last byte has left its node, or arrived.
  const std::vector<std::uint32_t>& sent() const { return sent_; }
  const std::vector<std::uint32_t>& delivered() const { return delivered_; }
  DeliveredTraffic traffic() const;

 private:
  using State = NetworkState<Routes, words>;
  using Mask = typename State::Mask;
  using Local = typename State::Local;
  using Slot = typename State::Slot;
  using Channel = typename State::Channel;
  using Link = typename State::Link;
  using Engine = typename State::Engine;
  using Node = typename State::Node;
  using Flow = typename State::Flow;
  using Pace = typename State::Pace;
  friend PacketEvents;
  static constexpr std::uint32_t channels = Routes::channels;
  static constexpr unsigned channel_bits = std::bit_width(channels - 1);
  static constexpr std::uint64_t stopped = std::uint64_t{1} << 63; // in Flow::undelivered

  // For PacketEvents::take(). What is far ahead is fetched into the cache before what depends on it, soon ahead.
  template <PacketEventKind kind>
  void happen(const PacketEvent& event);
  bool prefetches() const { return prefetches_; }
  template <PacketEventKind kind>
  void prefetch_far(const PacketEvent& event) const;
  template <PacketEventKind kind>
  void prefetch_mid(const PacketEvent& event) const;
  template <PacketEventKind kind>
  void prefetch_soon(const PacketEvent& event) const;
  template <PacketEventKind kind>
  void prefetch_next(const PacketEvent& event) const;
  void prefetch_queue(std::uint32_t q) const;
  void prefetch_hops(std::uint32_t q, std::uint32_t place) const;
  // In long lists of links that choose.
  [[gnu::noinline]] void prefetch_choices(std::size_t i, std::size_t size) const;
  std::uint32_t choice(std::size_t i) const {
    return Routes::adaptive ? static_cast<std::uint32_t>(keys_.keys()[i]) : choosing_[i];
  }

  void leave_link(std::uint32_t q, bool delivered);
  void leave_engine(std::uint32_t q);
  void deliver(const Slot& packet);
  [[gnu::noinline]] void serve_engines();
  [[gnu::noinline]] void sort(std::vector<std::uint32_t>& messages);
  void start_packet(std::int32_t v, std::uint32_t q);
  void ask_all();
  void ask(std::uint32_t q);
  bool comes_late(std::uint32_t q, const Slot& packet, const RouteHop* hops, std::size_t count);
  void may_choose(std::uint32_t o);
  void choose_all();
  [[gnu::noinline]] void sort_keys() { keys_.sort(); }
  void choose_link(std::uint32_t o);
  void choose_delivery(std::int32_t v);
  bool has_room(std::uint32_t o, std::uint32_t channel);
  void cross(std::uint32_t o, std::uint32_t q, std::uint32_t channel);
  [[gnu::noinline]] void start_delivery(std::int32_t v, std::uint32_t q);
  void stop_asking(std::uint32_t q, const Slot& packet, std::uint32_t o);
  void find_waiting(std::uint32_t q);
  void find_waiting(Link& link);
  static void find_taken(Link& link, std::uint32_t local, Slot& packet);

  // Queues: link << channel_bits | channel; from first_engine_ on those of engines, vertex by vertex.
  bool is_engine(std::uint32_t q) const { return q >= first_engine_; }
  Engine& engine_of(std::uint32_t q) { return engines_[q - first_engine_]; }
  Link& link_of(std::uint32_t q) { return links_[q >> channel_bits]; }
  const Link& link_of(std::uint32_t q) const { return links_[q >> channel_bits]; }
  Channel& channel_of(std::uint32_t q) { return link_of(q).channel[q & ((1U << channel_bits) - 1)]; }
  const Channel& channel_of(std::uint32_t q) const { return link_of(q).channel[q & ((1U << channel_bits) - 1)]; }
  const Slot& slot(std::uint32_t q, std::uint32_t i) const {
    return slots_[static_cast<std::size_t>(q) * capacity_ + (i < capacity_ ? i : i - capacity_)];
  }
  Slot& slot(std::uint32_t q, std::uint32_t i) { return const_cast<Slot&>(std::as_const(*this).slot(q, i)); }
  Slot& first_of(std::uint32_t q) { return is_engine(q) ? engine_of(q).packet : slot(q, channel_of(q).head); }
  std::int32_t vertex_of(std::uint32_t q) { return is_engine(q) ? engine_of(q).vertex : link_of(q).to; }
  std::uint32_t local_of(std::uint32_t q) {
    return is_engine(q) ? engine_of(q).local : link_of(q).first_local + (q & ((1U << channel_bits) - 1));
  }
  std::uint32_t queue_at(std::int32_t v, std::uint32_t local) const {
    const std::uint32_t place = local / channels, engines = static_cast<std::uint32_t>(fabric_.engines);
    const auto most = static_cast<std::uint32_t>(fabric_.most_arriving);
    if (place >= most) return first_engine_ + static_cast<std::uint32_t>(v) * engines + local - most * channels;
    return fabric_.arriving[static_cast<std::size_t>(v) * most + place] << channel_bits | local % channels;
  }
  bool is_asking(std::uint32_t q) { return is_engine(q) ? engine_of(q).asking : channel_of(q).asking; }

  static Mask all_asking(const Link& link) {
    Mask all = link.asking[channels - 1];
    if constexpr (!Routes::adaptive)
      for (std::size_t c = 0; c + 1 < channels; ++c)
        for (std::size_t word = 0; word < words; ++word) all[word] |= link.asking[c][word];
    return all;
  }
  void mark(std::uint32_t o) {
    if (links_[o].chooses) return;
    links_[o].chooses = true;
    choosing_.add(o);
  }
  void mark_node(std::int32_t v) {
    if (node_of(v).chooses) return;
    node_of(v).chooses = true;
    choosing_nodes_.add(v);
  }

  // Times of slots are near the time now: refresh() sees to it.
  static constexpr unsigned time_bits = 40;
  static void set_time(Slot& slot, Time time) {
    slot.low = static_cast<std::uint32_t>(time), slot.high = static_cast<std::uint8_t>(time >> 32);
  }
  Time time_of_slot(const Slot& slot) const {
    const Time stored = static_cast<Time>(slot.high) << 32 | slot.low;
    return now_ + static_cast<Time>(static_cast<std::int64_t>((stored - now_) << (64 - time_bits)) >> (64 - time_bits));
  }
  bool is_past(const Slot& slot) const { // or now
    const Time stored = static_cast<Time>(slot.high) << 32 | slot.low;
    return static_cast<std::int64_t>((stored - now_) << (64 - time_bits)) <= 0;
  }
  [[gnu::noinline]] void refresh(Time next);

  std::uint64_t bytes_of(const Slot& packet) const {
    return (packet.bits & is_short) == 0 ? full_ : flows_[packet.message].short_bytes;
  }
  Time link_time(std::uint16_t speed, std::uint64_t bytes) const {
    return bytes == full_ ? paces_[speed].full : time_of(bytes, fabric_.speeds[speed].femtoseconds);
  }
  Node& node_of(std::int32_t v) { return nodes_[static_cast<std::size_t>(v)]; }

  const Fabric& fabric_;
  const PacketOptions options_;
  Routes routes_;
  const std::uint64_t full_; // bytes of a full packet with its header
  const std::uint32_t capacity_, first_engine_;
  PacketEvents events_;
  LineVector<Link> links_;
  LineVector<Slot> slots_;
  LineVector<Engine> engines_;
  LineVector<Node> nodes_;           // by vertex
  std::vector<Pace> paces_;          // by speed
  std::vector<std::uint64_t> bytes_; // by link: of short packets
  LinkPool<Flow> flows_;
  Utilisation use_;
  DeliveredTraffic traffic_;
  bool mixed_ = false, full_outlasts_hop_ = true; // links of several rates; a packet takes longer than a hop's latency
  bool prefetches_ = false;                       // the network does not fit into the cache
  Time now_ = 0, next_ = never, refreshed_ = 0;
  std::uint64_t submitted_ = 0;
  std::vector<std::uint32_t> due_;             // engines that may have something to send
  Worklist<std::uint32_t> fresh_;              // queues whose first packet became ready now
  Worklist<std::uint32_t> choosing_, granted_; // links
  Worklist<std::int32_t> choosing_nodes_;
  SortedKeys keys_; // links that choose: the upper half says how many packets ask
  std::vector<std::uint32_t> sent_, delivered_;
};

template <class Routes, std::size_t words>
PacketSwitches<Routes, words>::PacketSwitches(const Fabric& fabric, const PacketOptions& options)
    : fabric_(fabric), options_(options), routes_(fabric),
      full_(static_cast<std::uint64_t>(options.packet_bytes + options.header_bytes)),
      capacity_(static_cast<std::uint32_t>(fabric.buffer_packets)), first_engine_(fabric.links << channel_bits),
      links_(fabric.links), slots_((static_cast<std::size_t>(fabric.links) << channel_bits) * capacity_),
      engines_(static_cast<std::size_t>(fabric.vertices) * static_cast<std::size_t>(fabric.engines)),
      nodes_(static_cast<std::size_t>(fabric.vertices)), bytes_(fabric.links),
      use_(options.links_over_time ? fabric.links : std::max<std::size_t>(1, fabric.topology->link_classes().size()),
           static_cast<std::size_t>(options.bins)) {
  static_assert(sizeof(Slot) == 16 && (words > 1 || channels > 3 || sizeof(Link) == 64));
  for (const Speed& speed : fabric.speeds) {
    const Time full = time_of(full_, speed.femtoseconds),
               delivery = std::max(full, time_of(full_, fabric.usual_engine));
    paces_.push_back(
        {full, speed.latency, delivery, events_.lane_of(full, PacketEventKind::done),
         events_.lane_of(speed.latency, PacketEventKind::ready), events_.lane_of(delivery, PacketEventKind::delivered),
         events_.lane_of(speed.latency, PacketEventKind::choose), static_cast<std::uint32_t>(speed.link_class)});
    mixed_ = mixed_ || speed.femtoseconds != fabric.speeds.front().femtoseconds;
    full_outlasts_hop_ = full_outlasts_hop_ && !mixed_ && full >= speed.latency;
  }
  constexpr std::size_t small = std::size_t{1} << 19; // bytes
  prefetches_ = links_.size() * sizeof(Link) + slots_.size() * sizeof(Slot) > small;
  const auto most = static_cast<std::uint32_t>(fabric.most_arriving),
             engines = static_cast<std::uint32_t>(fabric.engines);
  const std::uint32_t queues = most * channels + engines;
  const std::uint64_t seed = mixed(0, options.seed); // or the next seed would draw the same for the next links
  for (std::uint32_t o = 0; o < fabric.links; ++o) {
    if (fabric.from[o] < 0) continue;
    Link& link = links_[o];
    ++traffic_.links;
    link.from = fabric.from[o], link.to = fabric.to[o], link.speed = fabric.speed[o];
    link.first_local = static_cast<Local>(fabric.place[o] * channels);
    link.turn = static_cast<Local>(mixed(seed, o) % queues);
    const Turn turn = routes_.turn(o, link.from);
    link.axis = turn.axis, link.minus = turn.minus, link.is_last = turn.is_last;
  }
  for (std::uint32_t v = 0; v < nodes_.size(); ++v) {
    nodes_[v].engine_rate = fabric.engine[v], nodes_[v].injection_rate = fabric.injection[v];
    nodes_[v].turn = static_cast<Local>(mixed(seed, fabric.links + v) % queues);
    for (std::uint32_t e = 0; e < engines; ++e) {
      Engine& here = engines_[v * engines + e];
      here.vertex = static_cast<std::int32_t>(v), here.local = static_cast<Local>(most * channels + e);
    }
  }
}

template <class Routes, std::size_t words>
std::uint32_t PacketSwitches<Routes, words>::submit(Time now, const RawMessage& message) {
  assert(now >= now_ && now <= next());
  if (now > now_) refresh(now);
  now_ = now;
  const auto payload = static_cast<std::uint64_t>(options_.packet_bytes);
  Flow flow;
  flow.number = submitted_++;
  flow.left = message.bytes;
  flow.gap = message.gap;
  flow.background = message.background;
  const std::uint64_t rest = message.bytes % payload;
  if (rest > 0 || message.bytes == 0)
    flow.short_bytes = static_cast<std::uint16_t>(rest + static_cast<std::uint64_t>(options_.header_bytes));
  const std::int32_t from = fabric_.vertex[static_cast<std::size_t>(message.from)];
  flow.route = routes_.start(from, fabric_.vertex[static_cast<std::size_t>(message.to)], flow.number, flow.bits);
  const std::uint32_t id = flows_.take(flow);
  Node& node = node_of(from);
  (node.first == nothing ? node.first : flows_[node.last].next) = id;
  node.last = id;
  const auto engines = static_cast<std::uint32_t>(fabric_.engines);
  for (std::uint32_t e = 0; e < engines; ++e)
    due_.push_back(first_engine_ + static_cast<std::uint32_t>(from) * engines + e);
  next_ = now_;
  ++traffic_.messages, traffic_.bytes += message.bytes;
  if (message.background) ++traffic_.background.messages, traffic_.background.bytes += message.bytes;
  return id;
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::stop(Time now, std::int32_t number) {
  assert(now >= now_ && now <= next());
  if (now > now_) refresh(now);
  now_ = now;
  const std::int32_t v = fabric_.vertex[static_cast<std::size_t>(number)];
  for (std::uint32_t m = node_of(v).first; m != nothing;) {
    const std::uint32_t next = flows_[m].next;
    routes_.finish(flows_[m].route), flows_.give_back(m);
    m = next;
  }
  node_of(v).first = node_of(v).last = nothing;
  const auto engines = static_cast<std::uint32_t>(fabric_.engines);
  for (std::uint32_t e = 0; e < engines; ++e) {
    const std::uint32_t m = engines_[static_cast<std::uint32_t>(v) * engines + e].message;
    if (m != nothing) flows_[m].left = 0, flows_[m].undelivered |= stopped;
  }
}

template <class Routes, std::size_t words>
[[gnu::flatten]] void PacketSwitches<Routes, words>::advance() {
  if (next_ > now_) refresh(next_);
  now_ = next_;
  for (const std::uint32_t m : delivered_) routes_.finish(flows_[m].route), flows_.give_back(m);
  sent_.clear(), delivered_.clear();
  traffic_.events += events_.take(now_, *this);
  if (!due_.empty()) serve_engines();
  ask_all();
  choose_all();
  fresh_.clear();
  if (sent_.size() > 1) sort(sent_);
  if (delivered_.size() > 1) sort(delivered_);
  next_ = due_.empty() ? events_.next() : now_;
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::sort(std::vector<std::uint32_t>& messages) {
  std::sort(messages.begin(), messages.end(),
            [this](std::uint32_t a, std::uint32_t b) { return flows_[a].number < flows_[b].number; });
}

// Before the time goes on to `next`: times of slots that would be too long ago become `next`.
template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::refresh(Time next) {
  if (next - refreshed_ < Time{1} << (time_bits - 2)) return;
  refreshed_ = next;
  for (Slot& each : slots_)
    if (time_of_slot(each) < next) set_time(each, next);
}

template <class Routes, std::size_t words>
template <PacketEventKind kind>
void PacketSwitches<Routes, words>::happen(const PacketEvent& event) {
  const std::uint32_t q = event.queue, o = event.output;
  if constexpr (kind == PacketEventKind::done) {
    links_[o].busy = false;
    may_choose(o);
    if (is_engine(q))
      leave_engine(q);
    else
      leave_link(q, false);
  } else if constexpr (kind == PacketEventKind::delivered) {
    --nodes_[o].busy;
    mark_node(static_cast<std::int32_t>(o));
    leave_link(q, true);
  } else if constexpr (kind == PacketEventKind::ready) {
    if (is_engine(q)) {
      engine_of(q).asking = true;
      return fresh_.add(q);
    }
    Channel& channel = channel_of(q);
    if (channel.asking || channel.leaving || channel.count == 0 || !is_past(slot(q, channel.head))) return;
    channel.asking = true;
    fresh_.add(q);
  } else if constexpr (kind == PacketEventKind::engine) {
    engine_of(q).busy = false;
    due_.push_back(q);
  } else if (o < links_.size()) {
    may_choose(o);
  } else {
    mark_node(static_cast<std::int32_t>(o - links_.size()));
  }
}

// The tail of a packet has left the queue behind a link.
template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::leave_link(std::uint32_t q, bool delivered) {
  Link& link = link_of(q);
  Channel& channel = channel_of(q);
  Slot& first = slot(q, channel.head);
  if (delivered) deliver(first);
  const Pace& pace = paces_[link.speed];
  const Time back = now_ + pace.latency;
  set_time(first, back);
  channel.leaving = false;
  --channel.count;
  channel.head = static_cast<std::uint8_t>(channel.head + 1U == capacity_ ? 0 : channel.head + 1U);
  if (channel.lacks_room) {
    events_.push(pace.choose, PacketEventKind::choose, {back, q >> channel_bits, q});
    channel.lacks_room = false;
  }
  if (channel.count == 0 || !is_past(slot(q, channel.head))) return;
  channel.asking = true;
  fresh_.add(q);
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::leave_engine(std::uint32_t q) {
  Engine& sender = engine_of(q);
  if (const Flow& flow = flows_[sender.message]; flow.left == 0) {
    if ((flow.undelivered & stopped) == 0) sent_.push_back(sender.message);
    sender.message = nothing;
  }
  if (sender.free > now_) return events_.push(PacketEventKind::engine, {sender.free, 0, q});
  sender.busy = false;
  due_.push_back(q);
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::deliver(const Slot& packet) {
  Flow& flow = flows_[packet.message];
  if (--flow.undelivered == 0 && flow.left == 0) delivered_.push_back(packet.message);
  const bool waited = (packet.bits & has_waited) != 0;
  ++traffic_.packets, traffic_.packets_waited += waited;
  if (flow.background) ++traffic_.background.packets, traffic_.background.packets_waited += waited;
  traffic_.last = now_;
}

// Engines that are free start the next packet of their message, or the first one of the next message.
template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::serve_engines() {
  if (due_.size() > 1) std::sort(due_.begin(), due_.end());
  for (const std::uint32_t q : due_) {
    Engine& sender = engine_of(q);
    Node& node = node_of(sender.vertex);
    if (sender.busy) continue;
    if (sender.message != nothing && (flows_[sender.message].undelivered & stopped) != 0) sender.message = nothing;
    if (sender.message == nothing) {
      if (node.first == nothing) continue;
      sender.message = node.first;
      node.first = flows_[node.first].next;
    }
    start_packet(sender.vertex, q);
  }
  due_.clear();
}

template <class Routes, std::size_t words>
void PacketSwitches<Routes, words>::start_packet(std::int32_t v, std::uint32_t q) {
  Engine& sender = engine_of(q);
  Flow& flow = flows_[sender.message];
  const bool full = flow.left >= static_cast<std::uint64_t>(options_.packet_bytes);
  flow.left -= full ? static_cast<std::uint64_t>(options_.packet_bytes) : flow.left;
  ++flow.undelivered;
  sender.busy = true;
  sender.packet.bits = flow.bits | (full ? std::uint8_t{0} : is_short);
  sender.packet.route = flow.route;
  sender.packet.message = sender.message;
  if (Node& node = node_of(v); node.injection_rate > 0) {
    const Time start = std::max(now_, node.injection);
    node.injection = start + time_of(bytes_of(sender.packet), node.injection_rate);
    if (start > now_) return events_.push(PacketEventKind::ready, {start, 0, q});
  }
  sender.asking = true;
  fresh_.add(q);
}

template <class Routes, std::size_t words>
DeliveredTraffic PacketSwitches<Routes, words>::traffic() const {
  DeliveredTraffic traffic = traffic_;
  traffic.link_bytes = bytes_;
  for (std::uint32_t o = 0; o < fabric_.links; ++o)
    traffic.link_bytes[o] += links_[o].full_packets * static_cast<std::uint64_t>(options_.packet_bytes);
  const auto names = fabric_.topology->link_classes();
  for (std::size_t c = 0; c < std::max<std::size_t>(1, names.size()); ++c)
    traffic.classes.push_back({names.empty() ? "all" : names[c], 0, {}});
  for (std::uint32_t o = 0; o < fabric_.links; ++o) {
    if (fabric_.from[o] < 0) continue;
    traffic.links_waited += links_[o].ever_waited;
    ++traffic.classes[static_cast<std::size_t>(fabric_.speeds[links_[o].speed].link_class)].links;
  }
  traffic.bin = use_.width();
  const std::size_t last = traffic.last == 0 ? 0 : static_cast<std::size_t>((traffic.last - 1) / traffic.bin) + 1,
                    bins = std::min(last, use_.bins());
  const auto width = static_cast<double>(traffic.bin);
  if (options_.links_over_time) traffic.link_utilisation.resize(fabric_.links * bins);
  for (LinkClassUse& of : traffic.classes) of.utilisation.resize(bins);
  const auto add = [&](std::size_t group, LinkClassUse& to) {
    for (std::size_t bin = 0; bin < bins; ++bin)
      to.utilisation[bin] += static_cast<double>(use_.busy(group, bin)) / (width * static_cast<double>(to.links));
  };
  if (!options_.links_over_time) {
    for (std::size_t c = 0; c < traffic.classes.size(); ++c)
      if (traffic.classes[c].links > 0) add(c, traffic.classes[c]);
    return traffic;
  }
  for (std::uint32_t o = 0; o < fabric_.links; ++o) {
    if (fabric_.from[o] < 0) continue;
    add(o, traffic.classes[static_cast<std::size_t>(fabric_.speeds[links_[o].speed].link_class)]);
    for (std::size_t bin = 0; bin < bins; ++bin)
      traffic.link_utilisation[o * bins + bin] = static_cast<float>(static_cast<double>(use_.busy(o, bin)) / width);
  }
  return traffic;
}

} // namespace kumihimo::packet
