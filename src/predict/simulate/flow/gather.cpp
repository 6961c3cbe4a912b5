// What a level of the walk holds: it gathers the messages whose two ends have started, and delivers them.
#include "simulate/flow/symmetry.hpp"
#include "simulate/flow/walk.hpp"
#include "simulate/program_errors.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::simulation {

void Walk::gather() {
  level_.clear();
  const auto& ready = matching_.ready();
  level_.messages.reserve(ready.size() + local_.size());
  for (const auto& [order, queue] : ready) {
    const Posted &send = matching_.head(queue, StepMatching::sends),
                 &receive = matching_.head(queue, StepMatching::receives);
    FlowMessage m;
    m.queue = queue, m.channel = matching_.channel(queue);
    m.issuer = send.instance, m.taker = receive.frame < 0 ? -1 : receive.instance;
    m.sender = send.frame, m.receiver = receive.frame;
    m.repetitions = std::min(send.repetitions, receive.repetitions);
    m.sample_weight = send.sample_weight, m.gap = send.gap;
    m.whole_loop = m.repetitions > 1 && m.repetitions == send.repetitions && send.frame >= 0;
    m.drifts = drifts(m);
    m.moved = send.bytes;
    m.summed = receive.kind == StepKind::receive_reduce ? send.bytes : 0;
    if (send.exact && receive.exact && send.bytes != receive.bytes) check_lengths(queue);
    const auto& [lane, from, to] = m.channel;
    const auto& many = compiled_.many_peers;
    const bool many_peers = !many.empty() && (many[from] != 0 || many[to] != 0);
    const Transfer transfer{from, to, m.moved, compiled_.concurrency, many_peers, m.summed > 0};
    if (!send.exact) result_.straddles_limits = result_.straddles_limits || straddles(transfer);
    add_path(m, transfer);
    const bool is_short = network_.leaves_early(m.moved);
    result_.early_messages = result_.early_messages || is_short;
    m.leaves_early = is_short || (m.path.eager && m.repetitions == 1);
    set_start(m);
    add(m);
  }
  matching_.clear_ready();
  for (const FlowMessage& m : local_) {
    if (m.moved > 0) network_.append_copy(m.channel.from, level_.flows.resources);
    add(m);
  }
  local_.clear();
}

// The message of a rank that stands for others stands for its images, which load those of its links and of its
// receiver: one of each stands for all.
void Walk::add_path(FlowMessage& m, const Transfer& transfer) {
  std::vector<Resource>& resources = level_.flows.resources;
  const std::size_t first = resources.size();
  m.path = network_.append_path(transfer, resources);
  if (m.moved <= 0) resources.resize(first); // a signal
  if (!compiled_.symmetry) return;
  for (std::size_t r = first; r < resources.size(); ++r)
    resources[r] = compiled_.symmetry->first_resource(resources[r]);
  m.channel.to = compiled_.symmetry->first(m.channel.to);
}

void Walk::set_start(FlowMessage& m) {
  const PathTime& sent = matching_.start(matching_.head(m.queue, StepMatching::sends));
  const PathTime& both = later(sent, matching_.start(matching_.head(m.queue, StepMatching::receives)));
  const PathTime& start = m.leaves_early ? sent : both;
  const Occupied& occupied = matching_.occupied(m.queue);
  m.behind = std::max(0.0, occupied.until + loops_.rest(occupied.loop) - start.seconds);
  if (m.path.eager && both.seconds > start.seconds)
    m.behind = std::max(m.behind, times_.eager().wait(level_.open_resources(), start.seconds + m.path.cost));
  m.start = start.seconds + m.behind, m.start_error = start.sharing_error;
  m.issue_wait = processors_.issue(m);
}

void Walk::add(const FlowMessage& m) {
  if (m.moved > 0 && m.moved < element_) result_.empty_messages = true;
  level_.add(m);
}

// Whether a limit lies between the lengths that have this mean.
bool Walk::straddles(const Transfer& mean) const {
  Transfer shorter = mean, longer = mean;
  shorter.bytes = std::floor(mean.bytes / element_) * element_;
  longer.bytes = std::ceil(mean.bytes / element_) * element_;
  return network_.is_eager(shorter) != network_.is_eager(longer) ||
         network_.leaves_early(shorter.bytes) != network_.leaves_early(longer.bytes);
}

// Of messages that are known one by one: a loop that is collapsed at one end alone meets rounds as they come, of a
// sampled loop not all are walked, and segments in flight overtake each other.
void Walk::check_lengths(StepMatching::Id queue) {
  const Posted &send = matching_.head(queue, StepMatching::sends),
               &receive = matching_.head(queue, StepMatching::receives);
  const bool whole = send.frame >= 0 && receive.frame >= 0 && send.repetitions == receive.repetitions;
  if (!whole || walked_ > 1 || send.sample_weight != 1 || receive.sample_weight != 1 || !wrong_) return;
  const auto& [lane, from, to] = matching_.channel(queue);
  const auto elements = [&](double bytes) { return static_cast<std::int64_t>(bytes / element_); };
  wrong_ = unequal_lengths({from, to, compiled_.lanes[lane].id.value, elements(send.bytes), elements(receive.bytes)});
}

// From the second iteration of a loop of several rounds on, ranks may be in different rounds.
bool Walk::drifts(const FlowMessage& m) const {
  const auto has_rounds = [&](std::int32_t f) { return f >= 0 && frames_[f].end - frames_[f].begin > 1; };
  return m.repetitions > 1 && (has_rounds(m.sender) || has_rounds(m.receiver));
}

// When its two ends have both started, of an early one its sender, and the queue is free; of a local step, when the
// step started.
PathTime Walk::start_of(const FlowMessage& m) const {
  if (m.queue < 0) return frames_[m.sender].now;
  const PathTime& sent = matching_.start(matching_.head(m.queue, StepMatching::sends));
  if (m.leaves_early) return sent.plus_latency(m.behind);
  return later(sent, matching_.start(matching_.head(m.queue, StepMatching::receives))).plus_latency(m.behind);
}

void Walk::deliver(const FlowMessage& m, double rate) {
  PathTime left = start_of(m).plus_latency(m.issue_wait + m.path.cost).plus_transfer(m.moved / rate);
  left.sharing_error += m.sharing_error, left.late_overlap += m.late_overlap;
  PathTime arrived = left.plus_latency_in_flight(m.path.latency);
  double kept = 0; // seconds until it is asked for
  if (m.leaves_early && m.queue >= 0) {
    const PathTime& asked = matching_.start(matching_.head(m.queue, StepMatching::receives));
    kept = std::max(0.0, asked.seconds - arrived.seconds);
    arrived = later(arrived, asked);
  }
  if (m.path.taking > 0) arrived = arrived.plus_latency(processors_.take(m, arrived.seconds));
  if (m.summed > 0) {
    arrived = arrived.plus_reduction(m.sum_seconds);
    arrived.reducer_contention += m.contention;
  }
  if (m.queue < 0) return complete(m.sender, arrived, arrived.seconds - m.start);
  if (m.sender >= 0 && m.receiver >= 0) connect_loops(m.sender, m.receiver);
  const double idle = m.gap / m.path.limit, free = left.seconds + idle;
  Occupied occupied{free, idle > 0};
  if (occupied.gap && m.whole_loop) occupied.loop = loop_around(m.sender);
  matching_.consume(m.queue, m.repetitions, occupied);
  if (m.sender >= 0) complete(m.sender, left, free - m.start);
  if (m.receiver < 0) return;
  const double passed = arrived.seconds - m.start - kept;
  if (const std::int32_t member = loop_around(m.receiver); member >= 0) loops_.pass(member, passed, m.leaves_early);
  complete(m.receiver, arrived, passed);
}

} // namespace kumihimo::simulation
