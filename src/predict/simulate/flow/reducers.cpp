#include "simulate/flow/reducers.hpp"

#include <algorithm>

namespace kumihimo::simulation {

Reducers::Reducers(const NetworkPaths& network)
    : network_(network), here_(network.nodes().size()),
      on_node_(static_cast<std::size_t>(network.machine().topology->nodes())) {}

void Reducers::begin_pipeline(const Compiled& compiled, std::int32_t phase) {
  of_segment_.assign(here_.size(), 0);
  for (const Instance& i : compiled.instances)
    if (compiled.lanes[i.lane].phase == phase) of_segment_[i.rank] += i.reduced;
  const double busiest = of_segment_.empty() ? 0 : *std::max_element(of_segment_.begin(), of_segment_.end());
  share_of_byte_ = busiest > 0 ? 1 / busiest : 0;
}

// Ranks with less to do than the busiest are that much less likely to be at it.
double Reducers::contention(const FlowMessage& m) const {
  if (of_segment_.empty()) return 0;
  const std::int32_t rank = m.channel.to;
  const double all = of_segment_[rank], others = std::max(0.0, all - m.summed * here_[rank]);
  return others / network_.reduction_rate(rank) * all * share_of_byte_;
}

double Reducers::rate(const FlowMessage& m, std::int32_t here, std::int32_t on_node) const {
  if (m.computes) return network_.reduction_rate(m.channel.to) / here;
  return network_.sum_rate(m.channel.to, here, on_node, m.summed);
}

double Reducers::alone(const FlowMessage& m) const {
  return (m.computes ? 0 : network_.reduction_cost(m.channel.to)) + m.summed / rate(m, 1, 1);
}

bool Reducers::shares_memory(const FlowMessage& m) const {
  const std::int32_t rank = m.channel.to, here = here_[rank];
  return network_.sum_rate(rank, here, on_node(rank), 0) < network_.sum_rate(rank, here, 1, 0);
}

void Reducers::begin(FlowLevel& level) {
  for (const FlowMessage& m : level.messages)
    if (m.summed > 0) ++here_[m.channel.to], on_node(m.channel.to) += !m.computes;
  for (FlowMessage& m : level.messages) {
    if (m.summed <= 0) continue;
    const std::int32_t rank = m.channel.to;
    const double cost = m.computes ? 0 : network_.reduction_cost(rank);
    m.sum_seconds = cost * here_[rank] + m.summed / rate(m, here_[rank], on_node(rank));
    m.contention = contention(m);
  }
  share_by_length(level);
}

void Reducers::end(const FlowLevel& level) {
  for (const FlowMessage& m : level.messages)
    if (m.summed > 0) here_[m.channel.to] = on_node(m.channel.to) = 0;
}

// A compute step beside sums may be much longer than they. On a thread that all share alike, each waits for
// min(its own time, the other's) of each other one.
void Reducers::share_by_length(FlowLevel& level) {
  by_rank_.clear();
  for (std::uint32_t i = 0; i < level.messages.size(); ++i)
    if (const FlowMessage& m = level.messages[i]; m.summed > 0 && shares_thread(m))
      by_rank_.push_back({m.channel.to, i});
  std::sort(by_rank_.begin(), by_rank_.end());
  const auto message = [&](std::size_t at) -> FlowMessage& { return level.messages[by_rank_[at].second]; };
  const auto seconds_alone = [&](std::size_t at) { return message(at).repetitions * alone(message(at)); };
  for (std::size_t begin = 0, end = 0; begin < by_rank_.size(); begin = end) {
    bool any_computes = false;
    for (end = begin; end < by_rank_.size() && by_rank_[end].first == by_rank_[begin].first; ++end)
      any_computes = any_computes || message(end).computes;
    for (std::size_t a = begin; any_computes && a < end; ++a) {
      const double own = seconds_alone(a);
      double together = 0;
      for (std::size_t b = begin; b < end; ++b) together += std::min(own, seconds_alone(b));
      message(a).sum_seconds = alone(message(a)) * (together / own);
    }
  }
}

} // namespace kumihimo::simulation
