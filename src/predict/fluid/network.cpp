#include "fluid/network.hpp"

#include "hosts/hosts.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::fluid {

using hosts::never;

Network::Network(const simulation::NetworkPaths& paths, const Tolerance& tolerance, OfPrograms programs)
    : paths_(paths), fluid_(paths.capacities()),
      stopped_(static_cast<std::size_t>(paths.machine().topology->nodes()), 0),
      link_bytes_(static_cast<std::size_t>(paths.link_bound())), waiting_(static_cast<std::size_t>(paths.link_bound())),
      reduced_(paths.nodes().size()), tolerance_(tolerance), programs_(std::move(programs)), solve_at_(never) {}

Time Network::picoseconds(double seconds) {
  return static_cast<Time>(std::llround(std::clamp(seconds * 1e12, 0.0, 0x1p62)));
}

std::uint32_t Network::place() {
  if (unused_.empty()) {
    messages_.emplace_back();
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  const std::uint32_t id = unused_.back();
  unused_.pop_back();
  return id;
}

simulation::Path Network::open(std::uint32_t id, const Message& message, simulation::Transfer transfer) {
  UnderWay& of = messages_[id];
  of.resources.clear();
  of.bytes = static_cast<double>(message.bytes), of.order = order_++, of.from = message.from, of.flow = -1;
  of.gone = stopped_[static_cast<std::size_t>(paths_.nodes()[static_cast<std::size_t>(message.from)])] != 0;
  of.kind = UnderWayKind::message;
  of.stage = UnderWayStage::on_links;
  transfer.from = message.from, transfer.to = message.to, transfer.bytes = of.bytes;
  simulation::Path path = paths_.append_path(transfer, of.resources);
  of.needs_processors = paths_.takes_processors(message.from, message.to);
  if (of.needs_processors) path.cost -= paths_.message_cost(), path.latency -= paths_.relay_latency();
  return path;
}

std::uint32_t Network::submit(Time now, const Message& message) {
  now_ = now;
  const std::uint32_t id = place();
  const auto lanes = message.put ? simulation::Lanes::concurrent : simulation::Lanes::single;
  const simulation::Path path = open(id, message, {.lanes = lanes});
  UnderWay& of = messages_[id];
  of.start = now;
  // Between nodes the interfaces of the ranks are busy for what software costs; within one it delays the message alone.
  const bool local =
      paths_.nodes()[static_cast<std::size_t>(message.from)] == paths_.nodes()[static_cast<std::size_t>(message.to)];
  of.latency = picoseconds(path.latency + (local ? path.cost : 0));
  if (of.gone) return id;
  of.limit = path.limit / (1 + static_cast<double>(message.gap) / 1000);
  begin(id);
  return id;
}

std::uint32_t Network::prepare(const Message& message) {
  const std::uint32_t id = place();
  const auto many = [&](std::int32_t rank) { return programs_.many_peers[static_cast<std::size_t>(rank)] != 0; };
  const simulation::Path path =
      open(id, message,
           {.lanes = programs_.lanes, .many_peers = many(message.from) || many(message.to), .summed = message.summed});
  UnderWay& of = messages_[id];
  of.latency = picoseconds(path.latency), of.sending = picoseconds(path.cost), of.taking = picoseconds(path.taking);
  of.limit = path.limit;
  of.pause = picoseconds(static_cast<double>(message.gap) / 1000 * of.bytes / path.limit);
  return id;
}

void Network::go(Time now, std::uint32_t id) {
  now_ = now;
  UnderWay& of = messages_[id];
  of.start = now;
  if (of.bytes == 0) of.resources.clear(); // a signal
  for (const Resource r : of.resources)
    if (paths_.is_link(r) && fluid_.users(r) > 0) waiting_[static_cast<std::size_t>(r)] = 1;
  begin(id);
}

void Network::begin(std::uint32_t id) {
  if (messages_[id].needs_processors) return start_at_end(id, UnderWayStage::at_sender);
  begin_on_links(id);
}

// Events of an earlier stage are outdated then.
void Network::renumber(UnderWay& of) {
  of.order = order_++;
  ++no_messages_;
}

void Network::start_at_end(std::uint32_t id, UnderWayStage stage) {
  messages_[id].stage = stage;
  const Resource processors = paths_.processors();
  start(id, {&processors, 1}, 1, paths_.processor_time());
}

// What passes at once leaves now; of a longer message at its end.
void Network::begin_on_links(std::uint32_t id) {
  UnderWay& of = messages_[id];
  of.stage = UnderWayStage::on_links;
  of.burst = paths_.burst_bytes() > 0 && is_idle(of) ? std::min(of.bytes, paths_.burst_bytes()) : 0;
  if (of.burst < of.bytes) return start(id, of.resources, of.limit, of.bytes - of.burst);
  push({now_, of.order, 0, id, false});
  if (of.burst > 0) pay_burst(id);
}

bool Network::is_idle(const UnderWay& of) const {
  const auto is_free = [&](Resource r) { return !paths_.is_link(r) || fluid_.users(r) == 0; };
  return std::any_of(of.resources.begin(), of.resources.end(), [&](Resource r) { return paths_.is_link(r); }) &&
         std::all_of(of.resources.begin(), of.resources.end(), is_free);
}

void Network::pay_burst(std::uint32_t id) {
  const std::uint32_t debt = place();
  ++no_messages_;
  UnderWay &of = messages_[debt], &message = messages_[id];
  of.resources = message.resources;
  of.order = order_++, of.from = message.from, of.start = now_, of.limit = message.limit, of.bytes = message.burst;
  of.burst = 0, of.flow = -1, of.gone = false, of.kind = UnderWayKind::burst;
  start(debt, of.resources, of.limit, of.bytes);
}

bool Network::leaves_early(std::int32_t from, std::int32_t to, std::uint64_t bytes) const {
  if (paths_.leaves_early(static_cast<double>(bytes))) return true;
  if (!paths_.has_eager()) return false;
  const auto many = [&](std::int32_t rank) { return programs_.many_peers[static_cast<std::size_t>(rank)] != 0; };
  return paths_.is_eager({from, to, static_cast<double>(bytes), programs_.lanes, many(from) || many(to)});
}

void Network::start(std::uint32_t id, std::span<const Resource> resources, double limit, double amount,
                    double first_use) {
  UnderWay& of = messages_[id];
  of.flow = fluid_.start(seconds(now_), resources, limit, amount, first_use);
  if (of_flow_.size() <= static_cast<std::size_t>(of.flow)) of_flow_.resize(static_cast<std::size_t>(of.flow) + 1);
  of_flow_[static_cast<std::size_t>(of.flow)] = id;
  ++flows_;
  const double expected = std::max(amount / limit * 1e12, usual_);
  const Time late = is_crowded() ? static_cast<Time>(tolerance_.share * expected) : 0;
  solve_at_ = std::min(solve_at_, now_ + late);
}

Time Network::work_time(std::int32_t rank, const goal::GraphOperation& of) const {
  if (of.kind == goal::Kind::calc) return of.size;
  const double bytes = static_cast<double>(of.size);
  return picoseconds(bytes * paths_.slowdown(bytes) / paths_.reduction_rate(rank) + paths_.reduction_cost(rank));
}

// What does not depend on the length takes the time of an equivalent number of bytes. A sum that misses the cache takes
// more of the thread, which comes first, but no more of the memory.
std::uint32_t Network::work(Time now, std::int32_t rank, const goal::GraphOperation& operation, Time noise) {
  now_ = now;
  const std::uint32_t id = place();
  UnderWay& of = messages_[id];
  of.resources.clear();
  of.order = order_++, of.from = rank, of.flow = -1, of.start = now, of.gone = false, of.kind = UnderWayKind::work;
  of.burst = 0;
  of.bytes = static_cast<double>(operation.size);
  double rate = paths_.reduction_rate(rank), slowdown = 1;
  if (operation.kind == goal::Kind::copy) {
    paths_.append_copy(rank, of.resources);
    rate = paths_.copy_rate(rank);
  } else if (operation.kind == goal::Kind::sum) {
    paths_.append_sum(rank, of.resources);
    slowdown = paths_.slowdown(of.bytes);
    reduced_[static_cast<std::size_t>(rank)] += of.bytes * slowdown / rate;
    rate /= slowdown;
    of.bytes += (paths_.reduction_cost(rank) + seconds(noise)) * rate;
  } else {
    of.resources.push_back(paths_.reducer(rank));
    reduced_[static_cast<std::size_t>(rank)] += seconds(operation.size);
    of.bytes = seconds(operation.size + noise) * rate;
  }
  start(id, of.resources, rate, of.bytes, slowdown);
  return id;
}

void Network::stop(Time now, std::int32_t node) {
  now_ = now;
  stopped_[static_cast<std::size_t>(node)] = 1;
  for (UnderWay& of : messages_) {
    if (of.flow < 0 || paths_.nodes()[static_cast<std::size_t>(of.from)] != node) continue;
    const bool has_left = of.kind == UnderWayKind::burst || of.stage == UnderWayStage::at_receiver;
    if (of.kind != UnderWayKind::work && has_left) continue;
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
  if (of.kind == UnderWayKind::message && of.stage != UnderWayStage::on_links) {
    end_flow(of);
    renumber(of);
    if (of.stage == UnderWayStage::at_sender) return begin_on_links(id);
    of.gone = true;
    return push({now_ + of.latency, of.order, 0, id, true});
  }
  const bool owes = of.flow >= 0 && of.burst > 0;
  if (of.flow >= 0) {
    end_flow(of);
    constexpr double weight = 1.0 / 64;
    usual_ += weight * (static_cast<double>(now_ - of.start) - usual_);
  }
  if (of.kind == UnderWayKind::message)
    leave_links(id);
  else
    of.gone = true, worked_.push_back(id);
  if (messages_[id].kind == UnderWayKind::burst) return;
  sent_.push_back(id);
  if (owes) pay_burst(id);
}

void Network::leave_links(std::uint32_t id) {
  UnderWay& of = messages_[id];
  for (const Resource r : of.resources)
    if (paths_.is_link(r)) link_bytes_[static_cast<std::size_t>(r)] += of.bytes;
  if (of.needs_processors) {
    renumber(of);
    return start_at_end(id, UnderWayStage::at_receiver);
  }
  of.gone = true;
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
  constexpr Time rounding = 1; // between ends that are one, where each change is solved alone
  if (event.time == now_) return true;
  if (event.arrives) return false;
  if (tolerance_.share == 0 && event.time - now_ <= rounding) return true;
  if (!is_crowded()) return false;
  const Time start = messages_[event.message].start;
  return static_cast<double>(event.time - now_) <= tolerance_.share * static_cast<double>(event.time - start);
}

// Rates are solved when nothing else happens at that time: ranks that have something to do act before.
void Network::advance() {
  unused_.insert(unused_.end(), delivered_.begin(), delivered_.end());
  unused_.insert(unused_.end(), worked_.begin(), worked_.end());
  sent_.clear(), delivered_.clear(), worked_.clear();
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
