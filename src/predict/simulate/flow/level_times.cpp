#include "simulate/flow/level_times.hpp"

#include <algorithm>

namespace kumihimo::simulation {

LevelTimes::LevelTimes(const NetworkPaths& network, const FittedNumbers& fitted)
    : network_(network), shares_(network.capacities()), reducers_(network), eager_(network), unequal_(fitted.unequal),
      messages_under_way_(network.capacities(), fitted.neglected), sums_under_way_(network.nodes().size()),
      sharing_(network.capacities().size()), active_(network.capacities().size()) {}

void LevelTimes::begin_phase(const Compiled& compiled, std::int32_t phase, bool pipelined) {
  pipelined_ = pipelined;
  late_overlap_ = 0;
  eager_.clear();
  if (pipelined)
    reducers_.begin_pipeline(compiled, phase);
  else
    messages_under_way_.clear(), sums_under_way_.clear();
}

void LevelTimes::solve(FlowLevel& level) {
  shares_.solve(level.flows);
  reducers_.begin(level);
  eager_.add(level);
  if (level.longest > unequal_ * level.shortest) share_by_length(level);
  find_sharing_errors(level);
  if (pipelined_) return; // the steady period says what messages of other levels wait for
  late_overlap_ += messages_under_way_.add(level);
  late_overlap_ += sums_under_way_.add(level);
}

void LevelTimes::end(FlowLevel& level) {
  reducers_.end(level);
  if (!pipelined_) messages_under_way_.end(level);
}

// Of unequal messages the shorter ones end first and leave what they share to the longer ones. At a single resource, a
// message waits for min(its own bytes, the other's bytes) of each other message. Its rate is at least the fair rate.
void LevelTimes::share_by_length(FlowLevel& level) {
  by_length_.clear();
  for (std::uint32_t i = 0; i < level.messages.size(); ++i)
    if (const FlowMessage& m = level.messages[i]; m.moved > 0) by_length_.push_back({m.moved * m.repetitions, i});
  std::sort(by_length_.begin(), by_length_.end());
  alone_.assign(level.messages.size(), 0);
  for (const auto& [bytes, i] : by_length_) {
    for (const Resource r : level.flows.of(i)) {
      if (shares_.users(r) <= 1) continue;
      Sharing& s = sharing_.at(r, {shares_.users(r), 0});
      alone_[i] = std::max(alone_[i], (s.shorter + bytes * s.left) / network_.capacities()[r]);
      --s.left, s.shorter += bytes;
    }
  }
  sharing_.clear();
  for (std::size_t i = 0; i < level.messages.size(); ++i) {
    if (alone_[i] <= 0) continue;
    const FlowMessage& m = level.messages[i];
    double rate = std::min(m.path.limit, m.moved * m.repetitions / alone_[i]);
    for (const Resource r : level.flows.of(i)) rate = std::min(rate, network_.capacities()[r]);
    level.flows.rate[i] = std::max(level.flows.rate[i], rate);
  }
}

// fn(resource, whether the sum of what arrives shares it)
template <class F>
void LevelTimes::for_each_shared(const FlowLevel& level, std::size_t message, F&& fn) const {
  for (const Resource r : level.flows.of(message))
    if (shares_.users(r) > 1) fn(r, false);
  const FlowMessage& m = level.messages[message];
  if (m.summed <= 0) return;
  if (reducers_.shares_thread(m)) fn(network_.reducer(m.channel.to), true);
  if (reducers_.shares_memory(m)) fn(network_.memory(m.channel.to), true);
}

// Messages that share something are taken to share it from first to last. Where they begin or end apart, a message may
// have it more to itself: by at most what sharing costs it, and no longer than they are apart.
void LevelTimes::find_sharing_errors(FlowLevel& level) {
  slowed_.clear();
  for (std::size_t i = 0; i < level.messages.size(); ++i) {
    const FlowMessage& m = level.messages[i];
    double slowed = m.moved * (1 / level.flows.rate[i] - 1 / m.path.limit);
    if (m.summed > 0) slowed += m.sum_seconds - reducers_.alone(m);
    if (slowed <= 1e-6 * std::max(m.moved, m.summed) / m.path.limit) continue;
    slowed_.push_back({static_cast<std::uint32_t>(i), slowed * m.repetitions});
    const double start = m.start + m.issue_wait, left = level.left(i);
    const double arrived = left + m.repetitions * m.path.latency;
    for_each_shared(level, i, [&](Resource r, bool is_sum) {
      if (is_sum)
        active_.at(r).add(arrived, arrived + m.repetitions * m.sum_seconds, m.start_error);
      else
        active_.at(r).add(start, left, m.start_error);
    });
  }
  for (const auto& [message, seconds] : slowed_) {
    double apart = 0;
    for_each_shared(level, message, [&](Resource r, bool) { apart = std::max(apart, active_.at(r).apart()); });
    FlowMessage& m = level.messages[message];
    m.sharing_error = m.drifts ? seconds : std::min(seconds, apart);
  }
  active_.clear();
}

} // namespace kumihimo::simulation
