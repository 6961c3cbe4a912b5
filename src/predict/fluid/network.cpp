#include "fluid/network.hpp"

#include "hosts/hosts.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::fluid {

using hosts::never;

Network::Network(const simulation::Network& paths, const Tolerance& tolerance)
    : paths_(paths), fluid_(paths.capacities()),
      stopped_(static_cast<std::size_t>(paths.machine().topology->nodes()), 0),
      link_bytes_(static_cast<std::size_t>(paths.link_bound())), tolerance_(tolerance), solve_at_(never) {}

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
  of.bytes = static_cast<double>(message.bytes), of.order = order_++, of.from = message.from, of.flow = -1,
  of.start = now;
  of.gone = stopped_[static_cast<std::size_t>(paths_.nodes()[static_cast<std::size_t>(message.from)])] != 0;
  const auto lanes = message.put ? simulation::Lanes::concurrent : simulation::Lanes::single;
  const simulation::Path path = paths_.append_path({message.from, message.to, of.bytes, lanes}, of.resources);
  // Between nodes the interfaces of the ranks are busy for what software costs; within one it delays the message alone.
  const bool local =
      paths_.nodes()[static_cast<std::size_t>(message.from)] == paths_.nodes()[static_cast<std::size_t>(message.to)];
  of.latency = picoseconds(path.latency + (local ? path.cost : 0));
  if (of.gone) return id;
  if (message.bytes == 0) {
    push({now, of.order, 0, id, false});
    return id;
  }
  const double paced = path.limit / (1 + static_cast<double>(message.gap) / 1000);
  of.flow = fluid_.start(seconds(now), of.resources, paced, of.bytes);
  if (of_flow_.size() <= static_cast<std::size_t>(of.flow)) of_flow_.resize(static_cast<std::size_t>(of.flow) + 1);
  of_flow_[static_cast<std::size_t>(of.flow)] = id;
  ++flows_;
  const double expected = std::max(of.bytes / paced * 1e12, usual_);
  const Time late = is_crowded() ? static_cast<Time>(tolerance_.share * expected) : 0;
  solve_at_ = std::min(solve_at_, now + late);
  return id;
}

void Network::stop(Time now, std::int32_t node) {
  now_ = now;
  stopped_[static_cast<std::size_t>(node)] = 1;
  for (UnderWay& of : messages_) {
    if (of.flow < 0 || paths_.nodes()[static_cast<std::size_t>(of.from)] != node) continue;
    end_flow(of);
    of.gone = true;
  }
}

bool Network::is_outdated(const Event& event) const {
  if (event.arrives) return false;
  const UnderWay& of = messages_[event.message];
  if (of.gone || of.order != event.order) return true;
  return of.flow >= 0 && fluid_.version(of.flow) != event.version;
}

void Network::drop_outdated() {
  while (!events_.empty() && is_outdated(events_.front())) pop();
}

Time Network::next() const { return std::min(solve_at_, events_.empty() ? never : events_.front().time); }

// Where most rates change, what was planned before goes in one sweep.
void Network::solve() {
  solve_at_ = never;
  const std::size_t before = events_.size();
  fluid_.update(seconds(now_), [&](simulation::Fluid::FlowId flow, double left, std::uint32_t version) {
    const std::uint32_t id = of_flow_[static_cast<std::size_t>(flow)];
    events_.push_back({now_ + picoseconds(left), messages_[id].order, version, id, false});
  });
  const std::size_t planned = events_.size() - before;
  if (planned > before / 8) {
    std::erase_if(events_, [&](const Event& event) { return is_outdated(event); });
    std::make_heap(events_.begin(), events_.end());
    return;
  }
  for (std::size_t end = before + 1; end <= events_.size(); ++end)
    std::push_heap(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(end));
}

void Network::push(const Event& event) {
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end());
}

void Network::pop() {
  std::pop_heap(events_.begin(), events_.end());
  events_.pop_back();
}

void Network::leave(std::uint32_t id) {
  UnderWay& of = messages_[id];
  of.gone = true;
  if (of.flow >= 0) {
    end_flow(of);
    constexpr double weight = 1.0 / 64;
    usual_ += weight * (static_cast<double>(now_ - of.start) - usual_);
  }
  for (const Resource r : of.resources)
    if (paths_.is_link(r)) link_bytes_[static_cast<std::size_t>(r)] += of.bytes;
  sent_.push_back(id);
  push({now_ + of.latency, of.order, 0, id, true});
}

void Network::end_flow(UnderWay& of) {
  fluid_.end(of.flow);
  of.flow = -1;
  --flows_;
  const Time late = is_crowded() ? static_cast<Time>(tolerance_.share * usual_) : 0;
  solve_at_ = std::min(solve_at_, now_ + late);
}

bool Network::leaves_with_others(const Event& event) const {
  if (event.time == now_) return true;
  if (event.arrives || !is_crowded()) return false;
  const Time start = messages_[event.message].start;
  return static_cast<double>(event.time - now_) <= tolerance_.share * static_cast<double>(event.time - start);
}

// Rates are solved when nothing else happens at that time: ranks that have something to do act before.
void Network::advance() {
  unused_.insert(unused_.end(), delivered_.begin(), delivered_.end());
  sent_.clear(), delivered_.clear();
  now_ = next();
  if (events_.empty() || events_.front().time != now_) {
    solve();
  } else {
    while (!events_.empty() && (is_outdated(events_.front()) || leaves_with_others(events_.front()))) {
      const Event event = events_.front();
      pop();
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
