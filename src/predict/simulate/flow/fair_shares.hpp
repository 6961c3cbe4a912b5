// Max-min fair rates for flows that run at the same time (Bertsekas and Gallager, Data Networks, 6.5.2). Instead of
// filling one bottleneck at a time, each pass fills every resource that is the tightest one for all of its flows. These
// resources do not depend on each other, so a few passes suffice for thousands of bottlenecks.
#pragma once

#include "fluid/resources.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::simulation {

// The flows of one round, each with its resources and its own limit; rates are the answer.
struct FlowSet {
  std::vector<Resource> resources; // of all flows, one after the other
  std::vector<std::uint32_t> end;  // of each flow in `resources`
  std::vector<double> limit, rate;

  std::size_t size() const { return end.size(); }
  std::span<const Resource> of(std::size_t flow) const {
    const std::uint32_t begin = flow == 0 ? 0 : end[flow - 1];
    return {resources.data() + begin, end[flow] - begin};
  }
  void clear() { resources.clear(), end.clear(), limit.clear(), rate.clear(); }
};

class FairShares {
 public:
  explicit FairShares(const std::vector<double>& capacities) : capacities_(capacities), cells_(capacities.size()) {}

  // One pass for each nested bottleneck, each in O(resources of the flows that are left). Touches no resource that no
  // flow uses.
  void solve(FlowSet& flows);

  // Of the last solve: how often its flows use the resource, which at least one does. A copy alone uses its node's
  // memory twice.
  std::int32_t users(Resource r) const { return cells_[r].users; }

 private:
  struct alignas(32) Cell { // in one cache line
    double left = 0, share = 0, lowest = 0;
    std::int32_t count = 0, users = 0;
  };
  void count(const FlowSet& flows);
  bool uniform(FlowSet& flows) const; // one rate fits all: done
  void offer_rates(FlowSet& flows);
  void fix_rates(FlowSet& flows);

  const std::vector<double>& capacities_;
  std::vector<Cell> cells_;
  std::vector<Resource> touched_;
  std::vector<std::uint32_t> active_;
};

} // namespace kumihimo::simulation
