// Networks of switches: every model loads their links, each with its class' bandwidth.
#include "support.hpp"
#include "topology/dragonfly.hpp"
#include "topology/fat_tree.hpp"

namespace kumihimo::simulate_test {
namespace {

// The plain machine's round numbers on another network, with fast engines, so that links bind.
Machine on(TopologyPtr network) {
  Machine m = plain("2");
  m.family = Family::fat_tree;
  m.shape = Shape();
  m.set_topology(std::move(network));
  m.network.engine_bandwidth.value = m.network.injection_bandwidth.value = {100e9};
  return m;
}
TopologyPtr tapered() { return std::make_shared<FatTree>(*FatTree::make({{8, 1}, {4, 4}}, 32)); }
Dragonfly crowded() { return *Dragonfly::make({9, 4, 0, 2, 1, 1}, 72); }

// Every rank sends 1 MB to the one `distance` further on.
Schedule shift(std::int32_t ranks, std::int32_t distance) {
  return by_hand(ranks, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "shift", 1);
    lane.round({send((r + distance) % ranks, out[whole()]), receive((r + ranks - distance) % ranks, out[whole()])});
    p.add(std::move(lane));
  });
}

class OnSwitches : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(OnSwitches);

// 8 nodes share 4 uplinks, two messages on each: twice 1 ms, over four links.
TEST_P(OnSwitches, ATaperedTreeIsSlowerAbove) {
  const Machine m = on(tapered());
  EXPECT_NEAR(time(shift(32, 8), m), cost + 2e-3 + 4 * hop + relay, 1e-9);
  Machine fast = m;
  fast.network.classes.at(1).bandwidth = Quantity<BytesPerSecond>{{2e9}, Provenance::assumed, "twice as fast"};
  EXPECT_NEAR(time(shift(32, 8), fast), cost + 1e-3 + 4 * hop + relay, 1e-9);
}

// All 8 messages of a group cross one cable to the next group, here the slowest ones; by other groups they spread.
TEST_P(OnSwitches, ValiantSpreadsWhatMinimalCrowds) {
  const auto slow = [](TopologyPtr network) {
    Machine m = on(std::move(network));
    m.network.classes.at(2).bandwidth = Quantity<BytesPerSecond>{{1e8}, Provenance::assumed, "a tenth"};
    return m;
  };
  const double minimal = time(shift(72, 8), slow(std::make_shared<Dragonfly>(crowded())));
  EXPECT_NEAR(minimal, cost + 80e-3 + 5 * hop + relay, 3 * hop);
  EXPECT_LT(time(shift(72, 8), slow(crowded().routed("valiant"))), 0.8 * minimal);
}

TEST_P(OnSwitches, NothingIsFasterThanTheBound) {
  Machine uneven = on(std::make_shared<Dragonfly>(*Dragonfly::make({3, 2, 2, 3, 1, 2}, 17)));
  uneven.network.classes.at(2).bandwidth = Quantity<BytesPerSecond>{{5e8}, Provenance::assumed, "half"};
  std::set<CollectiveKind> told;
  for (const Job& m :
       std::vector<Job>{on(tapered()), uneven, *on(crowded().routed("valiant")).with_shape(*Shape::parse("21")),
                        *Job::with_ranks_per_node(on(tapered()), 3), *on(tapered()).with_shape(*Shape::parse("9"))})
    for (const Variant& variant : Registry::standard().variants()) {
      const RankSpace space = m.rank_space();
      for (const std::int64_t count : {1, 5000}) {
        const auto schedule = variant.build(make_collective(variant.kind, space.ranks(), count), space, {});
        if (!schedule) continue;
        SimulateOptions options;
        options.model = GetParam();
        const auto p = simulate(*schedule, m, {}, options);
        if (!p) continue; // an offload
        told.insert(variant.kind);
        EXPECT_GE(p->seconds.value, p->bound().value * (1 - 1e-9))
            << m.machine.topology->name() << " " << schedule->algorithm;
      }
    }
  EXPECT_GE(told.size(), 10U);
}

// Full bisection, and a pattern that D-mod-k serves without conflict: as fast as if nothing were shared.
TEST_P(OnSwitches, AFullTreeServesShiftsAtFullRate) {
  const Machine m = on(std::make_shared<FatTree>(*FatTree::make({{4, 1}, {4, 4}, {2, 4}}, 32)));
  for (const std::int32_t distance : {1, 4, 5, 16, 27}) {
    const double longest = cost + 1e-3 + 6 * hop + relay;
    EXPECT_NEAR(time(shift(32, distance), m), longest, 4 * hop + 1e-9) << distance;
  }
}

} // namespace
} // namespace kumihimo::simulate_test
