#include "fluid/max_min.hpp"

#include <algorithm>
#include <functional>
#include <utility>

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
  by_limit_ = component_;
  std::sort(by_limit_.begin(), by_limit_.end(), [&](FlowId a, FlowId b) { return flows_[a].limit < flows_[b].limit; });
  // Shares only grow as other flows are frozen: the first one that is still what it was is the lowest.
  shares_.clear();
  for (const Resource r : full_) shares_.emplace_back(mark_[r].share(), r);
  std::make_heap(shares_.begin(), shares_.end(), std::greater<>());
  double share = 0; // the last one, which equal ones have but for rounding
  for (std::size_t next = 0; next < by_limit_.size();) {
    const FlowId f = by_limit_[next];
    if (!flows_[f].listed) {
      ++next;
    } else if (shares_.empty() || flows_[f].limit <= shares_.front().first) {
      fix_rate(f, flows_[f].limit);
    } else {
      std::pop_heap(shares_.begin(), shares_.end(), std::greater<>());
      const auto [lowest, r] = shares_.back();
      shares_.pop_back();
      if (mark_[r].count == 0) continue;
      if (mark_[r].share() > lowest * (1 + 1e-12)) {
        shares_.emplace_back(mark_[r].share(), r);
        std::push_heap(shares_.begin(), shares_.end(), std::greater<>());
        continue;
      }
      if (lowest > share * (1 + 1e-12)) share = lowest;
      for (const FlowId user : users_[r])
        if (flows_[user].listed) fix_rate(user, share);
    }
  }
  for (const Resource r : full_) mark_[r].listed = false;
}

} // namespace kumihimo::simulation
