// The packet model once more, slowly and plainly: at each time every queue, link and engine is looked at. It takes
// routes from the topology and times by scanning; of the engine it knows the rules alone (packet/network.hpp).
#pragma once

#include "base/hash.hpp"
#include "packet/fabric.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace kumihimo::packet {

class Golden {
 public:
  struct Result {
    std::vector<Time> delivered;
    std::vector<std::uint64_t> link_bytes;
    std::set<std::uint32_t> links_waited;
    std::uint64_t packets = 0, packet_hops = 0, packets_waited = 0;
    bool stuck = false; // packets wait for each other
  };

  Golden(const Fabric& fabric, const PacketOptions& options, std::uint32_t channels)
      : f_(fabric), options_(options), channels_(channels), links_(fabric.links),
        nodes_(static_cast<std::size_t>(fabric.vertices)) {
    const auto most = static_cast<std::uint32_t>(f_.most_arriving), engines = static_cast<std::uint32_t>(f_.engines);
    first_engine_ = most * channels;
    for (std::uint32_t o = 0; o < f_.links; ++o) {
      links_[o].turn = mixed(mixed(0, options.seed), o) % (first_engine_ + engines);
      links_[o].queues.resize(channels);
      for (Queue& queue : links_[o].queues) queue.room = f_.buffer_packets;
    }
    for (std::uint32_t v = 0; v < nodes_.size(); ++v) {
      nodes_[v].turn = mixed(mixed(0, options.seed), f_.links + v) % (first_engine_ + engines);
      nodes_[v].engines.resize(engines);
    }
  }

  Result run(const std::vector<RawMessage>& messages) {
    Result result;
    result.delivered.resize(messages.size());
    result.link_bytes.resize(f_.links);
    std::vector<std::size_t> order(messages.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return messages[a].start < messages[b].start; });
    left_.resize(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i)
      left_[i] = std::max<std::uint64_t>(1, (messages[i].bytes + payload() - 1) / payload());
    std::size_t submitted = 0, arrived = 0;
    for (Time now = 0; arrived < messages.size();) {
      std::set<Time> next;
      if (submitted < order.size()) next.insert(messages[order[submitted]].start);
      for (const auto& [time, what] : pending_) next.insert(time);
      if (next.empty()) {
        result.stuck = true;
        return result;
      }
      now = *next.begin();
      for (; submitted < order.size() && messages[order[submitted]].start == now; ++submitted) {
        const RawMessage& m = messages[order[submitted]];
        nodes_[vertex(m.from)].waiting.push_back({order[submitted], submitted, m.bytes, m.gap, m.from, m.to, false});
      }
      while (!pending_.empty() && pending_.begin()->first == now) {
        const auto what = pending_.begin()->second;
        pending_.erase(pending_.begin());
        happen(what, now, result, arrived);
      }
      serve(now);
      choose(now, result);
    }
    return result;
  }

 private:
  struct Sending {
    std::size_t message = 0, number = 0;
    std::uint64_t bytes = 0;
    Time gap = 0;
    std::int32_t from = 0, to = 0;
    bool started = false;
  };
  struct Packet {
    std::size_t message = 0, number = 0;
    std::uint64_t payload = 0;
    std::int32_t from = 0, to = 0; // nodes
    Time ready = 0;
    Time came = 0;                  // how long its tail took to follow its head
    std::set<std::int32_t> crossed; // axes whose ring's last link it has passed
    std::vector<LinkId> route;
    std::size_t at = 0;
    std::int32_t channel = -1;
    bool waited = false, seen = false; // seen: it has asked before
    std::set<std::uint32_t> counted;   // links that E2 counted
  };
  struct Queue {
    std::deque<Packet> packets; // the first may be leaving
    bool leaving = false;
    std::int64_t room = 0;
  };
  struct Link {
    std::vector<Queue> queues;
    std::uint64_t turn = 0;
    bool busy = false;
    std::size_t message = 0;
  };
  struct Engine {
    std::deque<Sending> message;
    Queue queue;
    bool busy = false;
    Time free = 0;
  };
  struct Node {
    std::deque<Sending> waiting;
    std::vector<Engine> engines;
    std::uint64_t turn = 0;
    std::int32_t receiving = 0;
    Time injection = 0, delivery = 0;
  };
  enum class Kind { wake, left, room, engine };
  struct What {
    Kind kind = Kind::wake;
    std::int32_t vertex = -1;
    std::uint32_t link = 0, local = 0; // left: by this link (or delivered, at the number of links), from this queue
    std::uint32_t channel = 0;
  };

  std::uint64_t payload() const { return static_cast<std::uint64_t>(options_.packet_bytes); }
  std::uint64_t header() const { return static_cast<std::uint64_t>(options_.header_bytes); }
  std::size_t vertex(std::int32_t node) const {
    return static_cast<std::size_t>(f_.vertex[static_cast<std::size_t>(node)]);
  }
  const Speed& speed(std::uint32_t link) const { return f_.speeds[f_.speed[link]]; }
  Time time(const Packet& packet, std::uint32_t link) const {
    return time_of(packet.payload + header(), speed(link).femtoseconds);
  }
  Queue& queue(std::int32_t v, std::uint32_t local) {
    if (local >= first_engine_) return nodes_[static_cast<std::size_t>(v)].engines[local - first_engine_].queue;
    const std::uint32_t link =
        f_.arriving[static_cast<std::size_t>(v) * static_cast<std::size_t>(f_.most_arriving) + local / channels_];
    return links_[link].queues[local % channels_];
  }

  void happen(const What& what, Time now, Result& result, std::size_t& arrived) {
    switch (what.kind) {
    case Kind::wake: return;
    case Kind::room: ++links_[what.link].queues[what.channel].room; return;
    case Kind::engine: nodes_[static_cast<std::size_t>(what.vertex)].engines[what.local].busy = false; return;
    case Kind::left: break;
    }
    Queue& from = queue(what.vertex, what.local);
    if (what.link < f_.links) {
      links_[what.link].busy = false;
    } else {
      --nodes_[static_cast<std::size_t>(what.vertex)].receiving;
      const Packet& packet = from.packets.front();
      ++result.packets, result.packets_waited += packet.waited;
      if (--left_[packet.message] == 0) result.delivered[packet.message] = now, ++arrived;
    }
    from.packets.pop_front();
    from.leaving = false;
    if (what.local >= first_engine_) {
      Engine& engine = nodes_[static_cast<std::size_t>(what.vertex)].engines[what.local - first_engine_];
      if (engine.message.front().bytes == 0) engine.message.clear();
      if (engine.free <= now)
        engine.busy = false;
      else
        pending_.insert({engine.free, {Kind::engine, what.vertex, 0, what.local - first_engine_, 0}});
      return;
    }
    const std::uint32_t link =
        f_.arriving[static_cast<std::size_t>(what.vertex) * static_cast<std::size_t>(f_.most_arriving) +
                    what.local / channels_];
    pending_.insert({now + speed(link).latency, {Kind::room, -1, link, 0, what.local % channels_}});
  }

  void serve(Time now) {
    for (std::size_t v = 0; v < nodes_.size(); ++v)
      for (Engine& engine : nodes_[v].engines) {
        Node& node = nodes_[v];
        if (engine.busy) continue;
        if (engine.message.empty()) {
          if (node.waiting.empty()) continue;
          engine.message.push_back(node.waiting.front());
          node.waiting.pop_front();
        }
        Sending& sending = engine.message.front();
        Packet packet;
        packet.message = sending.message, packet.number = sending.number;
        packet.payload = std::min(sending.bytes, payload());
        packet.from = sending.from, packet.to = sending.to;
        sending.bytes -= packet.payload;
        f_.topology->append_route(NodeId{packet.from}, NodeId{packet.to}, packet.route);
        packet.ready = now;
        if (f_.injection[v] > 0) {
          packet.ready = std::max(now, node.injection);
          node.injection = packet.ready + time_of(packet.payload + header(), f_.injection[v]);
        }
        pending_.insert({packet.ready, {}});
        engine.queue.packets.push_back(packet);
        engine.busy = true;
      }
  }

  // The links that a packet asks, and the channel of each; the axes' order first.
  std::vector<std::pair<std::uint32_t, std::int32_t>> asked(const Packet& packet, std::int32_t v) const {
    std::vector<std::pair<std::uint32_t, std::int32_t>> links;
    if (!f_.torus) {
      if (packet.at < packet.route.size()) {
        const auto link = static_cast<std::uint32_t>(packet.route[packet.at].value);
        std::int32_t channel = 0;
        for (std::size_t i = 1; i <= packet.at; ++i)
          channel += f_.order[static_cast<std::size_t>(packet.route[i].value)] <=
                     f_.order[static_cast<std::size_t>(packet.route[i - 1].value)];
        links.emplace_back(link, channel);
      }
      return links;
    }
    const Torus& torus = *f_.torus;
    const Shape& shape = torus.shape();
    const auto end = static_cast<std::int32_t>(vertex(packet.to)),
               begin = static_cast<std::int32_t>(vertex(packet.from));
    for (std::size_t i = 0; i < f_.axes.size(); ++i) {
      const std::int32_t axis = f_.axes[i], at = shape.coordinate(v, axis), target = shape.coordinate(end, axis);
      if (at == target) continue;
      const std::int32_t first = shape.coordinate(begin, axis), hops = torus.hops(axis, first, target);
      const auto direction = hops > 0 ? Torus::Direction::plus : Torus::Direction::minus;
      const auto link = static_cast<std::uint32_t>(torus.link(NodeId{v}, axis, direction).value);
      const bool ring = shape.axes()[static_cast<std::size_t>(axis)].is_ring();
      const bool crosses = ring && (hops > 0 ? target < first : target > first);
      const bool adaptive = options_.routing == Routing::adaptive;
      std::int32_t channel = 0;
      if (f_.channels - adaptive == 2) {
        const bool is_last = ring && at == (hops > 0 ? shape.length(axis) - 1 : 0);
        if (crosses)
          channel = packet.crossed.count(axis) > 0 || is_last;
        else
          channel = adaptive || (mixed(packet.number, 0) >> i & 1) != 0;
      }
      links.emplace_back(link, links.empty() ? channel : -1);
      if (!adaptive) break;
    }
    return links;
  }

  struct Asking {
    std::uint32_t local = 0;
    std::int32_t channel = -1;
  };

  void choose(Time now, Result& result) {
    // Who asks for what.
    std::map<std::uint32_t, std::map<std::uint32_t, std::int32_t>> asking; // by link: queue to channel
    std::vector<std::pair<std::uint32_t, std::uint32_t>> fresh;            // link, queue
    for (std::int32_t v = 0; v < f_.vertices; ++v)
      for (std::uint32_t local : locals(v)) {
        Queue& here = queue(v, local);
        if (here.packets.empty() || here.leaving || here.packets.front().ready > now) continue;
        Packet& packet = here.packets.front();
        const auto links = asked(packet, v);
        if (!links.empty()) { // a faster link waits for the tail
          Time least = never;
          for (const auto& [link, channel] : links) least = std::min(least, time(packet, link));
          const Time start = packet.ready + packet.came - std::min(packet.came, least);
          if (start > now) {
            pending_.insert({start, {}});
            continue;
          }
        }
        for (const auto& [link, channel] : links) {
          asking[link][local] = channel;
          if (!packet.seen) fresh.emplace_back(link, local);
        }
        packet.seen = true;
        if (links.empty()) asking[f_.links + static_cast<std::uint32_t>(v)][local] = 0;
      }
    std::vector<std::pair<std::size_t, std::uint32_t>> order;
    for (const auto& [output, queues] : asking)
      order.emplace_back(options_.routing == Routing::adaptive ? queues.size() : 0, output);
    std::sort(order.begin(), order.end());
    std::set<std::uint32_t> granted;
    for (const auto& [count, o] : order) {
      if (o >= f_.links) {
        receive(static_cast<std::int32_t>(o - f_.links), asking, now);
        continue;
      }
      Link& link = links_[o];
      if (link.busy) continue;
      const std::int32_t v = f_.from[o];
      std::optional<Asking> chosen =
          turn(link.turn, asking[o], [&](std::int32_t channel) { return fit(link, channel); });
      if (!chosen) continue;
      granted.insert(o);
      link.turn = chosen->local + 1;
      cross(o, v, *chosen, now, result);
      for (auto& [other, queues] : asking)
        if (other < f_.links && f_.from[other] == v) queues.erase(chosen->local);
    }
    // E2.
    for (const auto& [o, local] : fresh) count(o, local, asking, result);
    for (const std::uint32_t o : granted)
      for (const auto& [local, channel] : asking[o]) count(o, local, asking, result);
  }

  std::vector<std::uint32_t> locals(std::int32_t v) const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < first_engine_; ++i)
      if (f_.arriving[static_cast<std::size_t>(v) * static_cast<std::size_t>(f_.most_arriving) + i / channels_] !=
          0xFFFFFFFFU)
        all.push_back(i);
    for (std::uint32_t e = 0; e < static_cast<std::uint32_t>(f_.engines); ++e) all.push_back(first_engine_ + e);
    return all;
  }

  // The channel that a packet gets; -1: none.
  std::int32_t fit(const Link& link, std::int32_t channel) const {
    if (options_.routing == Routing::adaptive) {
      const auto free = static_cast<std::int32_t>(channels_) - 1;
      if (link.queues[static_cast<std::size_t>(free)].room > 0) return free;
    }
    return channel >= 0 && link.queues[static_cast<std::size_t>(channel)].room > 0 ? channel : -1;
  }
  template <class Fit>
  static std::optional<Asking> turn(std::uint64_t from, const std::map<std::uint32_t, std::int32_t>& queues,
                                    Fit&& fits) {
    for (const bool before : {false, true})
      for (const auto& [local, wants] : queues)
        if ((local < from) == before)
          if (const std::int32_t channel = fits(wants); channel >= 0) return Asking{local, channel};
    return std::nullopt;
  }

  void cross(std::uint32_t o, std::int32_t v, const Asking& chosen, Time now, Result& result) {
    Link& link = links_[o];
    Queue& from = queue(v, chosen.local);
    Packet packet = from.packets.front();
    from.leaving = true;
    const Time takes = time(packet, o);
    if (chosen.local >= first_engine_) {
      Engine& engine = nodes_[static_cast<std::size_t>(v)].engines[chosen.local - first_engine_];
      const Time whole = engine.message.front().gap,
                 gap =
                     packet.payload == payload() ? whole : whole * (packet.payload + header()) / (payload() + header());
      engine.free =
          now + std::max(takes, time_of(packet.payload + header(), f_.engine[static_cast<std::size_t>(v)])) + gap;
    }
    link.busy = true, link.message = packet.message;
    result.link_bytes[o] += packet.payload, ++result.packet_hops;
    pending_.insert({now + takes, {Kind::left, v, o, chosen.local, 0}});
    if (f_.torus) {
      const auto port = o % static_cast<std::uint32_t>(2 * f_.torus->shape().dimensions());
      const auto axis = static_cast<std::int32_t>(port / 2);
      const std::int32_t at = f_.torus->shape().coordinate(v, axis);
      if (at == (port % 2 == 0 ? f_.torus->shape().length(axis) - 1 : 0)) packet.crossed.insert(axis);
    }
    ++packet.at;
    packet.seen = false, packet.counted.clear();
    packet.ready = now + speed(o).latency, packet.came = takes;
    pending_.insert({packet.ready, {}});
    Queue& behind = link.queues[static_cast<std::size_t>(chosen.channel)];
    --behind.room;
    behind.packets.push_back(packet);
  }

  void receive(std::int32_t v, std::map<std::uint32_t, std::map<std::uint32_t, std::int32_t>>& asking, Time now) {
    Node& node = nodes_[static_cast<std::size_t>(v)];
    auto& queues = asking[f_.links + static_cast<std::uint32_t>(v)];
    while (node.receiving < f_.engines && !queues.empty()) {
      if (node.delivery > now) {
        pending_.insert({node.delivery, {}});
        return;
      }
      const Asking chosen = *turn(node.turn, queues, [](std::int32_t) { return 0; });
      node.turn = chosen.local + 1;
      queues.erase(chosen.local);
      Queue& from = queue(v, chosen.local);
      from.leaving = true;
      ++node.receiving;
      const std::uint64_t bytes = from.packets.front().payload + header();
      if (f_.injection[static_cast<std::size_t>(v)] > 0)
        node.delivery = now + time_of(bytes, f_.injection[static_cast<std::size_t>(v)]);
      const Time takes = std::max(time_of(bytes, f_.engine[static_cast<std::size_t>(v)]), from.packets.front().came);
      pending_.insert({now + takes, {Kind::left, v, f_.links, chosen.local, 0}});
    }
  }

  void count(std::uint32_t o, std::uint32_t local,
             std::map<std::uint32_t, std::map<std::uint32_t, std::int32_t>>& asking, Result& result) {
    if (asking[o].count(local) == 0 || !links_[o].busy) return;
    Packet& packet = queue(f_.from[o], local).packets.front();
    if (packet.message == links_[o].message) return;
    packet.waited = true;
    result.links_waited.insert(o);
  }

  static constexpr Time never = ~Time{0};
  const Fabric& f_;
  const PacketOptions options_;
  std::uint32_t channels_, first_engine_ = 0;
  std::vector<Link> links_;
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> left_; // packets of each message
  std::multimap<Time, What> pending_;
};

} // namespace kumihimo::packet
