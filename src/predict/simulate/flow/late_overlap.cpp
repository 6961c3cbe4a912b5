#include "simulate/flow/late_overlap.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace kumihimo::simulation {

void MessagesUnderWay::clear() {
  levels_.assign(capacities_.size(), {});
  until_ = 0;
  is_kept_ = false;
}

// Without messages the level before stays the one that is kept.
double MessagesUnderWay::add(FlowLevel& level) {
  keeps_this_ = false;
  double first = std::numeric_limits<double>::infinity(), last = 0;
  uses_.clear();
  for (std::size_t i = 0; i < level.messages.size(); ++i) {
    const FlowMessage& m = level.messages[i];
    const double start = m.flows_from();
    first = std::min(first, start);
    if (m.moved <= 0) {
      uses_.push_back({});
      continue;
    }
    const double end = level.left(i);
    last = std::max(last, end);
    uses_.push_back({static_cast<float>(m.moved * m.repetitions / (end - start)), static_cast<float>(end)});
  }
  if (level.longest <= 0) return 0;
  const double until = std::exchange(until_, std::max(until_, last));
  if (until - first <= neglected_ * (last - first)) {
    std::swap(uses_, kept_uses_), is_kept_ = keeps_this_ = true;
    return 0;
  }
  if (std::exchange(is_kept_, false)) add_uses(kept_, kept_uses_, nullptr, 0);
  add_uses(level.flows, uses_, &level, until);
  double longest = 0;
  for (const std::uint32_t i : meeting_) {
    FlowMessage& m = level.messages[i];
    const double start = m.flows_from();
    for (const Resource r : level.flows.of(i)) {
      const Levels& both = levels_[r];
      if (both.before.end <= start) continue;
      const double excess = (both.before.rate + both.here.rate) / capacities_[r] - 1;
      if (excess <= 0) continue;
      const double both_last = std::min(uses_[i].end, both.before.end) - start;
      m.late_overlap = std::max(m.late_overlap, std::min(1.0, excess) * both_last);
    }
    longest = std::max(longest, m.late_overlap);
  }
  return longest;
}

void MessagesUnderWay::end(FlowLevel& level) {
  if (keeps_this_) std::swap(level.flows, kept_);
}

// As those of a new level. `level`: whose flows they are; finds the meeting ones. `until`: all earlier ones have left.
void MessagesUnderWay::add_uses(const FlowSet& flows, const std::vector<Use>& uses, const FlowLevel* level,
                                double until) {
  ++level_;
  meeting_.clear();
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].end == 0) continue; // a signal
    double last = 0;
    for (const Resource r : flows.of(i)) {
      auto& [before, here, latest] = levels_[r];
      if (latest != level_) {
        if (here.end > before.end) before = here;
        here = uses[i], latest = level_;
      } else {
        here.rate += uses[i].rate, here.end = std::max(here.end, uses[i].end);
      }
      last = std::max<double>(last, before.end);
    }
    if (level != nullptr && level->messages[i].flows_from() < std::min(last, until))
      meeting_.push_back(static_cast<std::uint32_t>(i));
  }
}

void SumsUnderWay::clear() { std::fill(processors_.begin(), processors_.end(), Processor{}); }

// Two that overlap take as much longer as they do.
double SumsUnderWay::add(FlowLevel& level) {
  ++level_;
  double longest = 0;
  for (std::size_t i = 0; i < level.messages.size(); ++i) {
    FlowMessage& m = level.messages[i];
    if (m.summed <= 0) continue;
    auto& [before, here, latest] = processors_[m.channel.to];
    if (latest != level_) {
      before.add(here);
      here = {}, latest = level_;
    }
    Busy sum;
    sum.begin = level.left(i) + m.repetitions * m.path.latency;
    sum.end = sum.begin + m.repetitions * m.sum_seconds;
    const double both = std::max(0.0, before.overlap(sum));
    m.late_overlap += both, longest = std::max(longest, both);
    if (here.end > 0) sum = {std::min(here.begin, sum.begin), std::max(here.end, sum.end)};
    here = sum;
  }
  return longest;
}

} // namespace kumihimo::simulation
