// Flows that share resources max-min fairly, solved anew at every start and end, by textbook progressive filling. Only
// flows that a change can reach are solved again: those connected through resources that could be full.
#pragma once

#include "fluid/resources.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kumihimo::simulation {

class Fluid {
 public:
  explicit Fluid(const std::vector<double>& capacities)
      : capacities_(capacities), users_(capacities.size()), demand_(capacities.size()), mark_(capacities.size()) {}

  using FlowId = std::int32_t;

  // Each byte uses every resource once, but the first one `first_use` times.
  FlowId start(double now, std::span<const Resource> resources, double limit, double bytes, double first_use = 1);
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
    double limit = 0, remaining = 0, rate = 0, new_rate = 0, since = 0, first_use = 1;
    std::uint32_t version = 0;
    bool listed = false, alive = false;
    double use(Resource r) const { return r == resources.front() ? first_use : 1; }
  };
  bool may_be_full(Resource r) const { return demand_[r] > capacities_[r] * (1 + 1e-12); }
  void list(FlowId f);
  void collect();
  void fill();
  void fix_rate(FlowId f, double rate);

  struct Mark {
    double left = 0, uses = 0; // of the flows counted, by each byte
    std::int32_t count = 0;
    double share() const { return left / uses; }
    bool listed = false;
  };
  const std::vector<double>& capacities_;
  std::vector<std::vector<FlowId>> users_;
  std::vector<double> demand_; // what its flows use at their limits
  std::vector<Mark> mark_;
  std::vector<Flow> flows_;
  std::vector<FlowId> unused_, component_, changed_, by_limit_;
  std::vector<std::pair<double, Resource>> shares_; // of full resources, a heap
  std::vector<Resource> full_, freed_;
};

} // namespace kumihimo::simulation
