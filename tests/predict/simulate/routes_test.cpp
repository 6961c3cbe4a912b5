// Networks by their routes: latencies add up, the least bandwidth holds, and what routes share their messages share.
#include "support.hpp"
#include "topology/route_table.hpp"

namespace kumihimo::simulate_test {
namespace {

// Four nodes with a link of 4 GB/s and 1 us each, both ways over it; nodes 0 and 1 reach 2 and 3 by a bus of 1 GB/s and
// 5 us, or a fat pipe of the same.
Machine machine(bool fat) {
  Machine m = plain("4");
  const std::vector<std::string> links = {"host x4", fat ? "bus fat" : "bus"};
  const std::vector<std::string> routes = {"0..1-0..1: 0+a 0+b", "2..3-2..3: 2+a 2+b", "0..1-2..3: 0+a 4 2+b",
                                           "2..3-0..1: 2+a 4 0+b"};
  m.family = Family::routes;
  m.shape = Shape();
  m.torus = nullptr;
  m.set_topology(std::make_shared<RouteTable>(*RouteTable::make(4, links, routes)));
  m.network.link_bandwidth.value = {4e9};
  m.network.engine_bandwidth.value = m.network.injection_bandwidth.value = {100e9};
  m.network.classes.at(1).bandwidth = Quantity<BytesPerSecond>{{1e9}, Provenance::assumed, "a test"};
  m.network.classes.at(1).latency = Quantity<Seconds>{{5e-6}, Provenance::assumed, "a test"};
  return m;
}

Schedule messages_along(const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs) {
  return by_hand(4, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
    for (std::size_t l = 0; l < pairs.size(); ++l) {
      LaneBuilder lane(LaneId{static_cast<std::int32_t>(l)}, "one", 1);
      if (r == pairs[l].first) lane.step(send(pairs[l].second, out[whole()]));
      if (r == pairs[l].second) lane.step(receive(pairs[l].first, out[whole()]));
      p.add(std::move(lane));
    }
  });
}

class Routes : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(Routes);

TEST_P(Routes, AMessageHasTheSumOfLatenciesAndTheLeastBandwidth) {
  EXPECT_NEAR(time(messages_along({{0, 1}}), machine(false)), cost + 0.25e-3 + 2e-6 + relay, 1e-12);
  EXPECT_NEAR(time(messages_along({{0, 3}}), machine(false)), cost + 1e-3 + 7e-6 + relay, 1e-12);
  EXPECT_NEAR(time(messages_along({{0, 3}}), machine(true)), cost + 1e-3 + 7e-6 + relay, 1e-12);
}

// Both ways over one bus, which a pair of cables would not share.
TEST_P(Routes, WhatRoutesShareTheirMessagesShare) {
  const Schedule two = messages_along({{0, 2}, {3, 1}});
  EXPECT_NEAR(time(two, machine(false)), cost + 2e-3 + 7e-6 + relay, 1e-12);
  EXPECT_NEAR(time(two, machine(true)), cost + 1e-3 + 7e-6 + relay, 1e-12) << "each has a fat pipe to itself";
  EXPECT_NEAR(time(messages_along({{0, 1}, {2, 3}}), machine(false)), cost + 0.25e-3 + 2e-6 + relay, 1e-12);
  EXPECT_NEAR(time(messages_along({{0, 1}, {1, 0}}), machine(false)), cost + 0.5e-3 + 2e-6 + relay, 1e-12)
      << "both cross both links";
}

TEST_P(Routes, CollectivesStayAboveTheirBounds) {
  for (const CollectiveKind kind : {CollectiveKind::allreduce, CollectiveKind::bcast, CollectiveKind::alltoall}) {
    int told = 0;
    for (const Variant* variant : Registry::standard().variants(kind))
      for (const bool fat : {false, true}) {
        SCOPED_TRACE(variant->name);
        const Machine m = machine(fat);
        const auto s = variant->build(make_collective(kind, 4, 8 * 1024), Job(m).rank_space(), {});
        if (!s) continue; // not on four ranks of switches
        const auto p = asked(*s, m);
        if (!p) continue;
        ++told;
        EXPECT_GE(p->seconds.value, p->bound().value * (1 - 1e-9));
      }
    EXPECT_GT(told, 0) << name_of(kind);
  }
}

} // namespace
} // namespace kumihimo::simulate_test
