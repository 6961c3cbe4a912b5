#include "fluid/network.hpp"

#include "hosts/hosts.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::fluid {

using hosts::never;

Network::Network(const simulation::Network& paths)
    : paths_(paths), fluid_(paths.capacities()),
      stopped_(static_cast<std::size_t>(paths.machine().topology->nodes()), 0),
      link_bytes_(static_cast<std::size_t>(paths.link_bound())) {}

Time Network::picoseconds(double seconds) { return static_cast<Time>(std::llround(std::max(0.0, seconds) * 1e12)); }

std::uint32_t Network::place() {
  if (unused_.empty()) {
    messages_.emplace_back();
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  const std::uint32_t id = unused_.back();
  unused_.pop_back();
  return id;
}

std::uint32_t Network::submit(Time now, const Message& message) {
  now_ = now;
  const std::uint32_t id = place();
  UnderWay& of = messages_[id];
  of.resources.clear();
  of.bytes = static_cast<double>(message.bytes), of.order = order_++, of.from = message.from, of.flow = -1;
  of.gone = stopped_[static_cast<std::size_t>(paths_.nodes()[static_cast<std::size_t>(message.from)])] != 0;
  const simulation::Path path = paths_.append_path(message.from, message.to, of.bytes, of.resources);
  of.latency = picoseconds(path.latency);
  if (of.gone) return id;
  if (message.bytes == 0) {
    events_.push({now, of.order, 0, id, false});
    return id;
  }
  const double paced = path.limit / (1 + static_cast<double>(message.gap) / 1000);
  of.flow = fluid_.start(seconds(now), of.resources, paced, of.bytes);
  if (of_flow_.size() <= static_cast<std::size_t>(of.flow)) of_flow_.resize(static_cast<std::size_t>(of.flow) + 1);
  of_flow_[static_cast<std::size_t>(of.flow)] = id;
  changed_ = true;
  return id;
}

void Network::stop(Time now, std::int32_t node) {
  now_ = now;
  stopped_[static_cast<std::size_t>(node)] = 1;
  for (UnderWay& of : messages_) {
    if (of.flow < 0 || paths_.nodes()[static_cast<std::size_t>(of.from)] != node) continue;
    fluid_.end(of.flow);
    of.flow = -1, of.gone = true;
    changed_ = true;
  }
}

bool Network::is_outdated(const Event& event) const {
  if (event.arrives) return false;
  const UnderWay& of = messages_[event.message];
  if (of.gone || of.order != event.order) return true;
  return of.flow >= 0 && fluid_.version(of.flow) != event.version;
}

void Network::drop_outdated() {
  while (!events_.empty() && is_outdated(events_.top())) events_.pop();
}

// Whoever asks first lets all others act that have something to do now.
Time Network::next() const {
  if (changed_) return now_;
  return events_.empty() ? never : events_.top().time;
}

void Network::solve() {
  changed_ = false;
  fluid_.update(seconds(now_), [&](simulation::Fluid::FlowId flow, double left, std::uint32_t version) {
    const std::uint32_t id = of_flow_[static_cast<std::size_t>(flow)];
    events_.push({now_ + picoseconds(left), messages_[id].order, version, id, false});
  });
}

void Network::leave(std::uint32_t id) {
  UnderWay& of = messages_[id];
  of.gone = true;
  if (of.flow >= 0) {
    fluid_.end(of.flow);
    of.flow = -1;
    changed_ = true;
  }
  for (const Resource r : of.resources)
    if (paths_.is_link(r)) link_bytes_[static_cast<std::size_t>(r)] += of.bytes;
  sent_.push_back(id);
  events_.push({now_ + of.latency, of.order, 0, id, true});
}

void Network::advance() {
  unused_.insert(unused_.end(), delivered_.begin(), delivered_.end());
  sent_.clear(), delivered_.clear();
  if (changed_) {
    solve();
  } else {
    now_ = next();
    while (!events_.empty() && events_.top().time == now_) {
      const Event event = events_.top();
      events_.pop();
      if (is_outdated(event)) continue;
      if (event.arrives)
        delivered_.push_back(event.message);
      else
        leave(event.message);
    }
  }
  drop_outdated();
}

} // namespace kumihimo::fluid
