// Messages are charged to the links between the nodes that their ranks are placed on.
#include "placement/orders.hpp"
#include "support.hpp"
#include "topology/single_node.hpp"

#include <algorithm>

namespace kumihimo::simulate_test {
namespace {

SchedulePrediction placed(const Schedule& s, const Job& job, const std::optional<Placement>& placement) {
  SimulateOptions options;
  options.keep_link_bytes = true;
  const auto p = simulate(s, job, placement, options);
  EXPECT_TRUE(p.ok()) << (p ? "" : p.error().sentence());
  return p ? *p : SchedulePrediction{};
}

Placement in_order(const char* order, const Job& job) {
  return *placement_in_order(order, job.slots, job.machine.shape);
}

// fn(variant, schedule) for every algorithm that fits ranks that see this, none of which the network computes.
template <class F>
void for_each_variant(const RankSpace& space, std::int64_t count, F&& fn) {
  for (const Variant& variant : Registry::standard().variants()) {
    const auto s = variant.build(make_collective(variant.kind, space.ranks(), count), space, {});
    if (s && !s->claims.offloads) fn(variant, *s);
  }
}

// Rank r on the node to which an automorphism takes node r.
template <class F>
Placement moved(const Job& job, F&& image) {
  const Shape& shape = job.machine.shape;
  std::vector<NodeId> nodes;
  for (std::int32_t r = 0; r < shape.places(); ++r) nodes.emplace_back(shape.place(image(shape.coordinates(r))));
  return *Placement::on_nodes(job.slots, nodes);
}

// A million bytes from rank 0 to rank 1.
Schedule message() {
  return by_hand(2, million, 1, [](std::int32_t rank, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "one", 1);
    if (rank == 0) lane.step(send(1, out[whole()]));
    if (rank == 1) lane.step(receive(0, out[whole()]));
    p.add(std::move(lane));
  });
}

TEST(PlacedRanks, SendOverTheLinksBetweenTheirNodes) {
  const Machine m = plain("5");
  const Schedule s = message();
  const std::vector<NodeId> nodes = {NodeId{1}, NodeId{3}};
  const SchedulePrediction p = placed(s, m, *Placement::on_nodes(Job(m).slots, nodes));
  EXPECT_NEAR(p.seconds.value, cost + 1e-3 + 2 * hop + relay, 1e-12);
  for (std::int64_t link = 0; link < m.topology->link_bound(); ++link) {
    const std::string name = m.topology->describe(LinkId{link}).name;
    EXPECT_EQ(p.link_bytes[static_cast<std::size_t>(link)] > 0, name == "+x at (1)" || name == "+x at (2)") << name;
  }
}

// Of odd lengths, round which no two ways are equally long: shifts and mirrors of the torus are those of its routes.
TEST(PlacedRanks, TakeTheSameTimeAfterAnyShiftAndMirrorOfTheTorus) {
  const Job job = described("k-computer", "5x3x3");
  const Placement shifted = moved(job, [](Coordinates c) {
    return Coordinates{(c[0] + 3) % 5, (c[1] + 1) % 3, (c[2] + 2) % 3};
  });
  const Placement mirrored = moved(job, [](Coordinates c) { return Coordinates{4 - c[0], 2 - c[1], c[2]}; });
  for_each_variant(job.rank_space(), 3000, [&](const Variant& variant, const Schedule& s) {
    const double block = placed(s, job, {}).seconds.value;
    for (const Placement& placement : {shifted, mirrored})
      EXPECT_NEAR(placed(s, job, placement).seconds.value, block, 1e-6 * block)
          << name_of(variant.kind) << " " << variant.name;
  });
}

// Messages between neighbours have one axis, so that no route depends on the order of axes.
TEST(PlacedRanks, TakeTheSameTimeWithReversedAxesOfACube) {
  const Job job = described("k-computer", "4x4x4");
  const Placement reversed = in_order("reversed-axes", job);
  std::int32_t seen = 0;
  for_each_variant(job.rank_space(), 3000, [&](const Variant& variant, const Schedule& s) {
    if (!s.claims.neighbours_only) return;
    const double block = placed(s, job, {}).seconds.value;
    EXPECT_NEAR(placed(s, job, reversed).seconds.value, block, 1e-6 * block)
        << name_of(variant.kind) << " " << variant.name;
    ++seen;
  });
  EXPECT_GT(seen, 5);
}

// An algorithm of the torus finds its neighbours wherever they are: on unequal axes too.
TEST(PlacedRanks, ThatKnowTheirCoordinatesLoseNothing) {
  const Job job = described("k-computer", "4x3x2");
  const Schedule block = built(algorithm("trinaryx3"), job, 1 << 22);
  for (const char* order : {"reversed-axes", "random:1", "random:2"}) {
    const Placement placement = in_order(order, job);
    const RankSpace space = job.rank_space(placement);
    ASSERT_TRUE(space.has_shape() && !space.row_major()) << order;
    const Collective c = make_collective(CollectiveKind::allreduce, 24, (1 << 22) / 8);
    const Schedule aware = *algorithm("trinaryx3").build(c, space, {});
    EXPECT_LT(placed(aware, job, placement).seconds.value, 1.1 * placed(block, job, {}).seconds.value) << order;
    EXPECT_GT(placed(block, job, placement).seconds.value, 1.3 * placed(aware, job, placement).seconds.value) << order;
  }
}

TEST(PlacedRanks, NeverBeatTheBound) {
  const std::vector<Job> jobs = {described("k-computer", "4x3x2"),
                                 *Job::with_ranks_per_node(described("hector-2a", "3x4"), 3),
                                 *Job::with_node_sizes(described("fugaku", "5x2"), {2, 0, 3, 1, 1, 0, 4, 2, 1, 1}),
                                 *Job::with_ranks_per_node(*shipped("reedbush-u").with_shape(*Shape::parse("9")), 2)};
  for (const Job& job : jobs)
    for (const char* order : {"round-robin", "random:1", "random:2", "random:3"}) {
      const Placement placement = in_order(order, job);
      for_each_variant(job.rank_space(placement), 2000, [&](const Variant& variant, const Schedule& s) {
        const SchedulePrediction p = placed(s, job, placement);
        EXPECT_GE(p.seconds.value, p.bound().value * (1 - 1e-9))
            << name_of(variant.kind) << " " << variant.name << " in order " << order << " on " << job.machine.name;
      });
    }
}

// Slots are cores: ranks 0 and 1 in one cache, or in two packages.
TEST(PlacedRanks, ShareTheLevelsOfTheirSlots) {
  Machine m = plain("1");
  m.family = Family::single_node;
  m.shape = Shape();
  m.set_topology(std::make_shared<SingleNode>());
  m.torus = nullptr;
  m.node.cores.value = m.node.default_ranks_per_node.value = 8;
  m.node.memory_bandwidth.value = {1e12};
  ASSERT_TRUE(m.set_levels({{"package", 4}}).ok());
  m.node.levels[0].bandwidth = Quantity<BytesPerSecond>{{80e9}, Provenance::assumed, "near"};
  const Job job = m;
  const Schedule s = message();
  const auto at = [&](std::int32_t one, std::int32_t other) {
    const std::vector<Slot> slots = {{NodeId{0}, one}, {NodeId{0}, other}};
    return placed(s, job, *Placement::make(job.slots, slots)).seconds.value;
  };
  EXPECT_EQ(at(0, 1), at(7, 5));
  EXPECT_EQ(at(0, 4), at(5, 2));
  EXPECT_GT(at(0, 4), 3 * at(0, 1));
}

} // namespace
} // namespace kumihimo::simulate_test
