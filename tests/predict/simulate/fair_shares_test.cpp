// Max-min fair rates: of one round, and of flows that start one after the other.
#include "fluid/max_min.hpp"
#include "simulate/flow/fair_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kumihimo::simulation {
namespace {

void add(FlowSet& flows, std::initializer_list<Resource> resources) {
  flows.resources.insert(flows.resources.end(), resources);
  flows.end.push_back(static_cast<std::uint32_t>(flows.resources.size()));
  flows.limit.push_back(1e300);
}

// Flow i crosses resources i and i + 1, and only once the flow before has its rate is that of the next known.
TEST(FairShares, SettleHoweverManyBottlenecksAreNested) {
  constexpr int many = 500;
  std::vector<double> capacity{1};
  for (int i = 1; i <= many; ++i) capacity.push_back(2 * i + 1.0); // shares of flow i - 1, at i, and flow i, at i + 1
  FairShares shares(capacity);
  FlowSet flows;
  for (int i = 0; i < many; ++i) add(flows, {i, i + 1});
  shares.solve(flows);
  for (int i = 0; i < many; ++i) EXPECT_NEAR(flows.rate[i], i + 1, 1e-9 * many) << i;
}

struct PlainFlow {
  std::vector<Resource> resources;
  double limit = 0, rate = 0;
};

// The rate of all that have none grows until a resource is full or a flow at its limit, again and again.
void fill(std::vector<PlainFlow>& flows, std::vector<double> left) {
  std::vector<PlainFlow*> open;
  for (PlainFlow& flow : flows) open.push_back(&flow);
  while (!open.empty()) {
    std::vector<double> uses(left.size());
    for (const PlainFlow* flow : open)
      for (const Resource r : flow->resources) ++uses[static_cast<std::size_t>(r)];
    const auto may_have = [&](const PlainFlow* flow) {
      double most = flow->limit;
      for (const Resource r : flow->resources) {
        const auto at = static_cast<std::size_t>(r);
        most = std::min(most, left[at] / uses[at]);
      }
      return most;
    };
    const PlainFlow* first = *std::min_element(open.begin(), open.end(),
                                               [&](const auto* a, const auto* b) { return may_have(a) < may_have(b); });
    const double rate = may_have(first);
    std::erase_if(open, [&](PlainFlow* flow) {
      if (flow != first) return false;
      flow->rate = rate;
      for (const Resource r : flow->resources) left[static_cast<std::size_t>(r)] -= rate;
      return true;
    });
  }
}

TEST(FairShares, OfFlowsThatStartOneAfterTheOtherAreThoseOfPlainFilling) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::int32_t>(random() % n); };
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<double> capacities(30);
    for (double& each : capacities) each = 1 + below(8);
    Fluid fluid(capacities);
    std::vector<PlainFlow> flows;
    std::vector<double> rates;
    for (int i = 0; i < 60; ++i) {
      PlainFlow flow{{}, 0.05 * (1 + below(40)), 0};
      for (int k = 0; k < 4; ++k) flow.resources.push_back(below(30)); // perhaps one of them twice
      fluid.start(0, flow.resources, flow.limit, 1);
      flows.push_back(flow), rates.push_back(0);
      fluid.update(
          0, [&](Fluid::FlowId f, double seconds, std::uint32_t) { rates[static_cast<std::size_t>(f)] = 1 / seconds; });
    }
    fill(flows, capacities);
    for (std::size_t i = 0; i < flows.size(); ++i) EXPECT_NEAR(rates[i], flows[i].rate, 1e-9) << repeat << ' ' << i;
  }
}

} // namespace
} // namespace kumihimo::simulation
