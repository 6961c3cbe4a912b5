// Max-min fair rates of one round.
#include "simulate/flow/fair_shares.hpp"

#include <gtest/gtest.h>

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

} // namespace
} // namespace kumihimo::simulation
