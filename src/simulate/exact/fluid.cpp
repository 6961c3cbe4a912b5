#include "simulate/exact/fluid.hpp"

#include <algorithm>
#include <limits>

namespace kumihimo::simulation {

Fluid::FlowId Fluid::start(double now, std::span<const Resource> resources, double limit, double bytes,
                           double first_use) {
  FlowId f = static_cast<FlowId>(flows_.size());
  if (unused_.empty())
    flows_.emplace_back();
  else
    f = unused_.back(), unused_.pop_back();
  Flow& flow = flows_[f];
  flow.resources.assign(resources.begin(), resources.end());
  flow.limit = limit, flow.remaining = bytes, flow.rate = 0, flow.since = now;
  flow.first_use = first_use;
  flow.alive = true;
  for (const Resource r : resources) {
    users_[r].push_back(f);
    demand_[r] += limit * flow.use(r);
  }
  changed_.push_back(f);
  return f;
}

void Fluid::end(FlowId f) {
  Flow& flow = flows_[f];
  for (const Resource r : flow.resources) {
    if (may_be_full(r)) freed_.push_back(r);
    auto& users = users_[r];
    *std::find(users.begin(), users.end(), f) = users.back();
    users.pop_back();
    demand_[r] = users.empty() ? 0 : demand_[r] - flow.limit * flow.use(r);
  }
  flow.alive = false;
  ++flow.version;
  unused_.push_back(f);
}

void Fluid::list(FlowId f) {
  if (!flows_[f].alive || flows_[f].listed) return;
  flows_[f].listed = true;
  component_.push_back(f);
}

void Fluid::collect() {
  component_.clear(), full_.clear();
  for (const FlowId f : changed_) list(f);
  for (const Resource r : freed_)
    for (const FlowId f : users_[r]) list(f);
  changed_.clear(), freed_.clear();
  for (std::size_t at = 0; at < component_.size(); ++at)
    for (const Resource r : flows_[component_[at]].resources) {
      if (mark_[r].listed || !may_be_full(r)) continue;
      mark_[r].listed = true;
      full_.push_back(r);
      for (const FlowId f : users_[r]) list(f);
    }
}

void Fluid::fix_rate(FlowId f, double rate) {
  Flow& flow = flows_[f];
  flow.new_rate = rate;
  flow.listed = false; // frozen
  for (const Resource r : flow.resources) {
    if (!mark_[r].listed) continue;
    mark_[r].left = std::max(0.0, mark_[r].left - rate * flow.use(r));
    mark_[r].uses -= flow.use(r);
    --mark_[r].count;
  }
}

// The lowest of all shares and limits is somebody's fair rate; freeze those and go on.
void Fluid::fill() {
  for (const Resource r : full_) {
    mark_[r].left = capacities_[r], mark_[r].count = static_cast<std::int32_t>(users_[r].size()), mark_[r].uses = 0;
    for (const FlowId f : users_[r]) mark_[r].uses += flows_[f].use(r);
  }
  std::vector<FlowId> by_limit = component_;
  std::sort(by_limit.begin(), by_limit.end(), [&](FlowId a, FlowId b) { return flows_[a].limit < flows_[b].limit; });
  std::size_t next = 0;
  while (true) {
    while (next < by_limit.size() && !flows_[by_limit[next]].listed) ++next;
    if (next == by_limit.size()) break;
    double share = std::numeric_limits<double>::infinity();
    for (const Resource r : full_)
      if (mark_[r].count > 0) share = std::min(share, mark_[r].share());
    if (flows_[by_limit[next]].limit <= share) {
      fix_rate(by_limit[next], flows_[by_limit[next]].limit);
      continue;
    }
    for (const Resource r : full_) {
      if (mark_[r].count == 0 || mark_[r].share() > share * (1 + 1e-12)) continue;
      for (const FlowId f : users_[r])
        if (flows_[f].listed) fix_rate(f, share);
    }
  }
  for (const Resource r : full_) mark_[r].listed = false;
}

} // namespace kumihimo::simulation
