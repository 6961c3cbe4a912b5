// Messages of the exact simulation: their two ends, the channels in which they follow one another, their way, and who
// takes them.
#include "simulate/exact/events.hpp"
#include "simulate/program_errors.hpp"

#include <algorithm>

namespace kumihimo::simulation {

void Events::post(const ExpandedStep& step, const StepPosition& place, const Wanted& wanted) {
  const std::int32_t rank = lanes_[place.lane].rank, id = lanes_[place.lane].lane->id.value,
                     other = static_cast<std::int32_t>(wanted.peer);
  const bool sending = step.step->sends();
  if (wanted.peer < 0 || wanted.peer >= schedule_.ranks()) return; // waits for ever
  const Channel channel = sending ? Channel{id, rank, other} : Channel{id, other, rank};
  const MessageKey key{channel, place.segment};
  auto& theirs = sending ? receives_ : sends_;
  const auto found = theirs.find(key);
  if (found == theirs.end()) {
    Half& half = (sending ? sends_ : receives_)[key].emplace_back(Half{place, wanted.bytes, wanted.gap, posted_++, -1});
    if (!sending || !leaves_early(channel, wanted.bytes)) return;
    half.left = new_early();
    return enqueue({channel, -1, place, {}, wanted.bytes, wanted.gap, half.order, half.left, {}});
  }
  const Half half = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) theirs.erase(found);
  if (wanted.bytes != half.bytes)
    sending ? check_lengths(channel, {place, wanted.bytes}, half) : check_lengths(channel, half, {place, wanted.bytes});
  if (half.left >= 0) return receive_early(half.left, place);
  Message m;
  m.channel = channel;
  m.send = sending ? place : half.place;
  m.receive = sending ? half.place : place;
  m.bytes = wanted.bytes;
  m.gap = sending ? wanted.gap : half.gap;
  m.order = sending ? posted_++ : half.order;
  enqueue(m);
}

bool Events::leaves_early(const Channel& channel, std::int64_t bytes) const {
  return network_.leaves_early(static_cast<double>(bytes)) || network_.is_eager(transfer(channel, bytes));
}

std::int32_t Events::new_early() {
  if (free_early_.empty()) {
    early_.emplace_back();
    return static_cast<std::int32_t>(early_.size()) - 1;
  }
  const std::int32_t at = free_early_.back();
  free_early_.pop_back();
  early_[at] = {};
  return at;
}

void Events::enqueue(Message m) {
  const auto [known, fresh] = server_of_.try_emplace(m.channel, static_cast<std::int32_t>(servers_.size()));
  if (fresh) servers_.emplace_back();
  m.server = known->second;
  Server& server = servers_[m.server];
  server.waiting.push_back(m);
  requested_.push_back(&server);
}

void Events::check_lengths(const Channel& channel, const Half& send, const Half& receive) {
  const bool data = send.bytes > 0 && receive.bytes > 0;
  if (!data || !lanes_[send.place.lane].in_order || !lanes_[receive.place.lane].in_order || refused_) return;
  const std::int64_t each = schedule_.data->type_bytes;
  refused_ = unequal_lengths({channel.from, channel.to, channel.lane, send.bytes / each, receive.bytes / each});
}

// All that starts at one instant is issued in the order of its sends, whichever end was handled first.
void Events::serve_requested() {
  std::erase_if(requested_, [](const Server* s) { return s->busy || s->waiting.empty(); });
  std::sort(requested_.begin(), requested_.end(),
            [](const Server* a, const Server* b) { return a->waiting.front().order < b->waiting.front().order; });
  for (Server* server : requested_) serve(*server);
  requested_.clear();
}

// One message of a lane between two ranks at a time; the lane issues its messages one after another.
void Events::serve(Server& server) {
  if (server.busy || server.waiting.empty()) return; // asked for twice
  server.busy = true;
  std::int32_t at = static_cast<std::int32_t>(messages_.size());
  if (free_messages_.empty())
    messages_.emplace_back();
  else
    at = free_messages_.back(), free_messages_.pop_back();
  Message& m = messages_[at] = server.waiting.front();
  server.waiting.pop_front();
  route_.clear();
  m.path = append_path(m);
  LaneState& sender = lanes_[m.send.lane];
  double issued = now_;
  if (m.path.cost > 0) {
    const double begin = std::max(now_, sender.processor_free);
    issued = sender.processor_free = begin + m.path.cost + lost(sender.rank, begin, m.path.cost);
  }
  push(issued, Kind::issued, at);
}

Transfer Events::transfer(const Channel& channel, std::int64_t bytes) const {
  const auto& [lane, from, to] = channel;
  const bool many_peers = many_peers_[from] != 0 || many_peers_[to] != 0;
  return {from, to, static_cast<double>(bytes), concurrency_, many_peers};
}

Path Events::append_path(const Message& m) {
  Transfer t = transfer(m.channel, m.bytes);
  t.summed = m.receive.kind == StepKind::receive_reduce;
  return network_.append_path(t, route_);
}

void Events::begin_flow(std::int32_t at) {
  Message& m = messages_[at];
  route_.clear();
  append_path(m);
  if (m.bytes == 0) route_.clear(); // a signal
  for (const Resource r : route_) {
    if (!network_.is_link(r)) continue;
    link_bytes_[r] += static_cast<double>(m.bytes);
    if (fluid_.users(r) > 0) waiting_[r] = 1;
  }
  start_fluid({at, -1, {}}, route_, m.path.limit, static_cast<double>(m.bytes));
}

void Events::release(Server& server) {
  server.busy = false;
  requested_.push_back(&server);
}

void Events::receive_early(std::int32_t early, const StepPosition& place) {
  early_[early].received = true, early_[early].receive = place;
  if (early_[early].message >= 0) arrive(early_[early].message);
}

// The receiving lane takes one message after another.
void Events::arrive(std::int32_t at) {
  Message& m = messages_[at];
  if (m.place >= 0) {
    Early& early = early_[m.place];
    early.message = at;
    if (!early.received) return;
    m.receive = early.receive;
    free_early_.push_back(m.place);
  }
  if (m.path.taking <= 0) return take(at);
  LaneState& receiver = lanes_[m.receive.lane];
  const double begin = std::max(now_, receiver.processor_free);
  receiver.processor_free = begin + m.path.taking + lost(receiver.rank, begin, m.path.taking);
  push(receiver.processor_free, Kind::taken, at);
}

void Events::take(std::int32_t at) {
  const Message m = messages_[at];
  free_messages_.push_back(at);
  if (m.receive.kind == StepKind::receive_reduce)
    return reduce(m.receive.lane, {m.receive, static_cast<double>(m.bytes)});
  step_done(m.receive);
}

} // namespace kumihimo::simulation
