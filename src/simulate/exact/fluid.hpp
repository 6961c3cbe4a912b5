// Flows that share resources max-min fairly, solved anew at every start and end, by textbook progressive filling. Only
// flows that a change can reach are solved again: those connected through resources that could be full.
#pragma once

#include "simulate/network.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kumihimo::simulation {

class Fluid {
 public:
  explicit Fluid(const std::vector<double>& capacities)
      : capacities_(capacities), users_(capacities.size()), demand_(capacities.size()), mark_(capacities.size()) {}

  using FlowId = std::int32_t;

  FlowId start(double now, std::span<const Resource> resources, double limit, double bytes);
  void end(FlowId flow);

  // Solves what changed since the last call; fn(flow, seconds until it ends, version) for each flow whose rate changed.
  template <class F>
  void update(double now, F&& fn) {
    collect();
    fill();
    for (const FlowId f : component_) {
      Flow& flow = flows_[f];
      if (flow.rate == flow.new_rate) continue;
      flow.remaining = flow.remaining - flow.rate * (now - flow.since);
      flow.since = now;
      flow.rate = flow.new_rate;
      fn(f, (flow.remaining > 0 ? flow.remaining : 0) / flow.rate, ++flow.version);
    }
  }

  std::uint32_t version(FlowId flow) const { return flows_[flow].version; }
  std::size_t users(Resource r) const { return users_[r].size(); }

 private:
  struct Flow {
    std::vector<Resource> resources;
    double limit = 0, remaining = 0, rate = 0, new_rate = 0, since = 0;
    std::uint32_t version = 0;
    bool listed = false, alive = false;
  };
  bool may_be_full(Resource r) const { return demand_[r] > capacities_[r] * (1 + 1e-12); }
  void list(FlowId f);
  void collect();
  void fill();
  void fix_rate(FlowId f, double rate);

  struct Mark {
    double left = 0;
    std::int32_t count = 0;
    bool listed = false;
  };
  const std::vector<double>& capacities_;
  std::vector<std::vector<FlowId>> users_;
  std::vector<double> demand_; // sum of the limits of its flows
  std::vector<Mark> mark_;
  std::vector<Flow> flows_;
  std::vector<FlowId> unused_, component_, changed_;
  std::vector<Resource> full_, freed_;
};

inline Fluid::FlowId Fluid::start(double now, std::span<const Resource> resources, double limit, double bytes) {
  FlowId f = static_cast<FlowId>(flows_.size());
  if (unused_.empty())
    flows_.emplace_back();
  else
    f = unused_.back(), unused_.pop_back();
  Flow& flow = flows_[f];
  flow.resources.assign(resources.begin(), resources.end());
  flow.limit = limit, flow.remaining = bytes, flow.rate = 0, flow.since = now;
  flow.alive = true;
  for (const Resource r : resources) {
    users_[r].push_back(f);
    demand_[r] += limit;
  }
  changed_.push_back(f);
  return f;
}

inline void Fluid::end(FlowId f) {
  Flow& flow = flows_[f];
  for (const Resource r : flow.resources) {
    if (may_be_full(r)) freed_.push_back(r);
    auto& users = users_[r];
    *std::find(users.begin(), users.end(), f) = users.back();
    users.pop_back();
    demand_[r] = users.empty() ? 0 : demand_[r] - flow.limit;
  }
  flow.alive = false;
  ++flow.version;
  unused_.push_back(f);
}

inline void Fluid::list(FlowId f) {
  if (!flows_[f].alive || flows_[f].listed) return;
  flows_[f].listed = true;
  component_.push_back(f);
}

inline void Fluid::collect() {
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

inline void Fluid::fix_rate(FlowId f, double rate) {
  Flow& flow = flows_[f];
  flow.new_rate = rate;
  flow.listed = false; // frozen
  for (const Resource r : flow.resources) {
    if (!mark_[r].listed) continue;
    mark_[r].left = std::max(0.0, mark_[r].left - rate);
    --mark_[r].count;
  }
}

// The lowest of all shares and limits is somebody's fair rate; freeze those and go on.
inline void Fluid::fill() {
  for (const Resource r : full_)
    mark_[r].left = capacities_[r], mark_[r].count = static_cast<std::int32_t>(users_[r].size());
  std::vector<FlowId> by_limit = component_;
  std::sort(by_limit.begin(), by_limit.end(), [&](FlowId a, FlowId b) { return flows_[a].limit < flows_[b].limit; });
  std::size_t next = 0;
  while (true) {
    while (next < by_limit.size() && !flows_[by_limit[next]].listed) ++next;
    if (next == by_limit.size()) break;
    double share = std::numeric_limits<double>::infinity();
    for (const Resource r : full_)
      if (mark_[r].count > 0) share = std::min(share, mark_[r].left / mark_[r].count);
    if (flows_[by_limit[next]].limit <= share) {
      fix_rate(by_limit[next], flows_[by_limit[next]].limit);
      continue;
    }
    for (const Resource r : full_) {
      if (mark_[r].count == 0 || mark_[r].left / mark_[r].count > share * (1 + 1e-12)) continue;
      for (const FlowId f : users_[r])
        if (flows_[f].listed) fix_rate(f, share);
    }
  }
  for (const Resource r : full_) mark_[r].listed = false;
}

} // namespace kumihimo::simulation
