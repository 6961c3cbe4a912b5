// Tori whose axes have links of different bandwidth, and routers with several nodes.
#include "support.hpp"
#include "topology/router_torus.hpp"

namespace kumihimo::simulate_test {
namespace {

class OnUnevenTori : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(OnUnevenTori);

// Every rank sends 1 MB to the next one along an axis.
Schedule along(const Shape& shape, std::int32_t axis) {
  return by_hand(shape.places(), million, 1, [=](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "along", 1);
    lane.round({send(shape.shifted(r, axis, 1), out[whole()]), receive(shape.shifted(r, axis, -1), out[whole()])});
    p.add(std::move(lane));
  });
}

Quantity<BytesPerSecond> rate(double bytes_per_second) { return {{bytes_per_second}, Provenance::assumed, "a test"}; }

TEST_P(OnUnevenTori, EachAxisHasItsBandwidth) {
  Machine m = plain("4x3x5");
  m.network.classes.at(1).bandwidth = rate(0.5e9);
  EXPECT_NEAR(time(along(m.shape, 0), m), cost + 1e-3 + hop + relay, 1e-9);
  EXPECT_NEAR(time(along(m.shape, 1), m), cost + 2e-3 + hop + relay, 1e-9);
  EXPECT_NEAR(time(along(m.shape, 2), m), cost + 1e-3 + hop + relay, 1e-9);
}

// The two nodes of a router share its link along x, but not the way to each other.
TEST_P(OnUnevenTori, NodesOfARouterShareItsLinks) {
  Machine m = plain("4x3x2");
  m.set_topology(std::make_shared<RouterTorus>(*Shape::parse("4x3"), 2));
  EXPECT_NEAR(time(along(m.shape, 0), m), cost + 2e-3 + 3 * hop + relay, 1e-9);
  EXPECT_NEAR(time(along(m.shape, 2), m), cost + 1e-3 + 2 * hop + relay, 1e-9);
  m.network.classes.back().bandwidth = rate(0.25e9);
  EXPECT_NEAR(time(along(m.shape, 0), m), cost + 4e-3 + 3 * hop + relay, 1e-9);
}

// The narrowest cut is not the one with the fewest links.
TEST(UnevenBound, TheCutWithTheLeastBandwidthBinds) {
  Machine m = plain("8x4");
  const auto bisection = [&] {
    const auto p = simulate_bound(make_collective(CollectiveKind::alltoall, 32, 1000), m);
    for (const LowerBound& b : p->bounds)
      if (b.name == "bisection") return b.seconds.value;
    return 0.0;
  };
  const double bytes = 8000.0 * 16 * 16;
  EXPECT_NEAR(bisection(), bytes / (2 * 4 * 1e9), 1e-12) << "across x";
  m.network.classes.at(1).bandwidth = rate(0.25e9);
  EXPECT_NEAR(bisection(), bytes / (2 * 8 * 0.25e9), 1e-12) << "across y";
}

TEST(UnevenBound, OddAxesAreCutAsTheyCanBe) {
  const auto p = simulate_bound(make_collective(CollectiveKind::alltoall, 5, 1000), plain("5"));
  for (const LowerBound& b : p->bounds)
    if (b.name == "bisection") {
      EXPECT_NEAR(b.seconds.value, 8000.0 * 2 * 3 / 2e9, 1e-15) << "two nodes from three";
    }
}

} // namespace
} // namespace kumihimo::simulate_test
