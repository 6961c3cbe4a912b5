#include "simulate/flow/loads.hpp"

#include <algorithm>

namespace kumihimo::simulation {

LoadCounter::LoadCounter(const Compiled& compiled, const NetworkPaths& network, double times, ResourceTraffic& traffic,
                         Loads* loads)
    : compiled_(compiled), network_(network), times_(times),
      element_(static_cast<double>(compiled.schedule->data->type_bytes)), traffic_(traffic), loads_(loads),
      summed_(network.nodes().size()) {
  for (ResourceTraffic::OfResource& r : traffic_.resources) r.last_flow = 0;
  if (loads_ == nullptr) return;
  loads_->pipelines = static_cast<std::size_t>(compiled.pipelines);
  loads_->bytes.resize(network.capacities().size() * loads_->pipelines);
  loads_->issued.resize(compiled.instances.size()), loads_->taken.resize(compiled.instances.size());
  loads_->between.reserve(compiled.instances.size());
}

// Messages meet on a link in one level or, in a pipeline, in any.
void LoadCounter::add(const FlowLevel& level, const FairShares& shares) {
  const std::int32_t links = network_.link_bound();
  for (std::size_t i = 0; i < level.messages.size(); ++i) {
    const FlowMessage& m = level.messages[i];
    const double bytes = m.moved * m.repetitions * m.sample_weight;
    const std::int32_t pipeline = compiled_.lanes[m.channel.lane].pipeline;
    const auto flow = static_cast<std::uint32_t>(ChannelHash{}(m.channel) | 1U);
    for (const Resource r : level.flows.of(i)) {
      ResourceTraffic::OfResource& traffic = traffic_.resources[r];
      traffic.bytes += bytes * times_;
      if (loads_ != nullptr) loads_->of(r)[pipeline] += bytes;
      if (r >= links) continue;
      if (shares.users(r) > 1) traffic.is_shared = true;
      if (loads_ == nullptr) continue;
      if (traffic.last_flow != 0 && traffic.last_flow != flow) traffic.is_shared = true;
      traffic.last_flow = flow;
    }
    if (m.summed > 0) add_sum(m);
    if (loads_ != nullptr && m.queue >= 0) add_to_queues(m);
  }
}

void LoadCounter::add_sum(const FlowMessage& m) {
  const std::int32_t rank = m.channel.to;
  const double slowdown = m.computes ? 1 : network_.slowdown(m.summed);
  const double bytes = m.summed * m.repetitions * m.sample_weight;
  summed_[rank] += slowdown * bytes * times_;
  if (loads_ == nullptr) return;
  const std::int32_t pipeline = compiled_.lanes[m.channel.lane].pipeline;
  double& reducer = loads_->of(network_.reducer(rank))[pipeline];
  if (m.computes) {
    reducer += slowdown * bytes;
    return;
  }
  of_sum_.clear();
  network_.append_sum(rank, of_sum_);
  for (const Resource r : of_sum_) loads_->of(r)[pipeline] += r == network_.reducer(rank) ? slowdown * bytes : bytes;
  reducer += network_.reduction_cost(rank) * network_.reduction_rate(rank) * m.repetitions * m.sample_weight;
}

// All messages of a segment count, whichever level they are in. Of fewer elements than segments some have none, and are
// not sent.
void LoadCounter::add_to_queues(const FlowMessage& m) {
  const double sent = m.moved > 0 ? std::min(1.0, m.moved / element_) : 1;
  const double times = m.repetitions * m.sample_weight;
  for (QueueLoad* load : {&loads_->between[loads_->between.at(m.channel)], &loads_->issued[m.issuer]}) {
    load->instance = m.issuer;
    load->messages += times * sent;
    load->cost += times * sent * m.path.cost;
    load->transfer += times * (m.moved + m.gap) / m.path.limit;
  }
  if (m.taker >= 0) loads_->taken[m.taker] += m.repetitions * m.sample_weight * sent * m.path.taking;
}

} // namespace kumihimo::simulation
