// What must hold whatever the numbers are.
#include "support.hpp"

namespace kumihimo::simulate_test {
namespace {

// fn(variant, schedule) for every algorithm that fits, and of which the machine's engine takes what it offloads.
template <class F>
void for_each_schedule(const Job& m, std::int64_t bytes, F&& fn) {
  const RankSpace space = m.rank_space();
  for (const Variant& variant : Registry::standard().variants()) {
    const auto s = variant.build(make_collective(variant.kind, space.ranks(), bytes / 8), space);
    if (s && (!s->claims.offloads || simulate(*s, m))) fn(variant, *s);
  }
}

TEST(Invariants, NothingIsFasterThanTheBound) {
  for (const char* shape : {"4x4x4", "5x3", "6m", "2x2x2x2"}) {
    const Machine m = described("k-computer", shape);
    for (const std::int64_t bytes : {8, 1000, 100'000, 10'000'000})
      for_each_schedule(m, bytes, [&](const Variant& v, const Schedule& s) {
        const SchedulePrediction p = predicted(s, m);
        EXPECT_GE(p.seconds.value, p.bound().value * (1 - 1e-9)) << v.name << " " << shape << " " << bytes;
        EXPECT_GT(p.bound().value, 0);
      });
  }
}

// Whose ranks share one engine, and whose subtrees are of every size.
TEST(Invariants, NothingIsFasterThanTheBoundWithSeveralRanksANode) {
  for (const char* shape : {"3x2x5", "3x5x2", "7"})
    for (const std::int64_t each : {2, 3}) {
      const Job m = *Job::with_ranks_per_node(described("hector-2a", shape), each);
      for (const std::int64_t bytes : {8, 1 << 13, 1 << 20})
        for_each_schedule(m, bytes, [&](const Variant& v, const Schedule& s) {
          const SchedulePrediction p = predicted(s, m);
          EXPECT_GE(p.seconds.value, p.bound().value * (1 - 1e-9))
              << name_of(v.kind) << " " << v.name << " on " << shape << " of " << each << ", " << bytes << " bytes";
        });
    }
}

TEST(Invariants, MoreBytesTakeLonger) {
  const Machine m = described("k-computer", "4x3x2");
  for (const Variant& variant : Registry::standard().variants()) {
    double before = 0;
    for (std::int64_t bytes = 1 << 10; bytes <= 1 << 28; bytes *= 4) {
      const RankSpace space = Job(m).rank_space();
      Parameters one;
      one.segments = 1;
      const bool segmented = std::any_of(variant.parameters.begin(), variant.parameters.end(),
                                         [](const auto& p) { return p.parameter->name == "segment_bytes"; });
      const auto s =
          variant.build(make_collective(variant.kind, space.ranks(), bytes / 8), space, segmented ? one : Parameters{});
      if (!s || s->claims.offloads) break; // whose lengths are few
      const double now = predicted(*s, m).seconds.value;
      EXPECT_GE(now, before * (1 - 1e-9)) << variant.name << " " << bytes;
      before = now;
    }
  }
}

TEST(Invariants, MoreSegmentsOfOneSizeTakeLonger) {
  const Machine m = described("k-computer", "4x4x2");
  for (const char* name : {"trinaryx3", "chain", "binary", "double_binary"}) {
    double before = 0;
    for (std::int64_t segments = 1; segments < 40; ++segments) {
      Parameters p;
      p.segments = segments;
      const double now = predicted(built(algorithm(name), m, segments * 3 * 65536, p), m).seconds.value;
      EXPECT_GT(now, before) << name << ", " << segments << " segments";
      before = now;
    }
  }
}

TEST(Invariants, AllRootsOfATorusAreEqual) {
  const Machine m = described("k-computer", "5x4x3");
  for (const CollectiveKind kind : {CollectiveKind::bcast, CollectiveKind::reduce}) {
    const Variant& v = algorithm("trinaryx3", kind);
    const double first = predicted(built(v, m, 1 << 24), m).seconds.value;
    for (const std::int32_t root : {1, 17, 33, 59})
      EXPECT_NEAR(predicted(built(v, m, 1 << 24, {}, Rank{root}), m).seconds.value, first, 1e-9 * first) << root;
  }
}

// Everything twice as fast and half as far: half the time.
TEST(Invariants, UnitsOfTimeDoNotMatter) {
  const Machine m = described("k-computer", "4x3x2");
  Machine fast = m;
  for (auto* rate : {&fast.network.link_bandwidth, &fast.network.engine_bandwidth, &fast.network.injection_bandwidth,
                     &fast.node.reduction_rate, &fast.node.shared_memory_bandwidth, &fast.node.memory_bandwidth})
    rate->value.value *= 2;
  for (auto* time : {&fast.network.hop_latency, &fast.software.message_cost, &fast.software.relay_latency,
                     &fast.node.shared_memory_latency, &fast.offload->base_latency, &fast.offload->stage_latency})
    time->value.value /= 2;
  for_each_schedule(m, 1 << 22, [&](const Variant& v, const Schedule& s) {
    const double slow = predicted(s, m).seconds.value;
    EXPECT_NEAR(predicted(s, fast).seconds.value, slow / 2, 1e-9 * slow) << v.name;
  });
}

TEST(Invariants, NamesDoNotMatter) {
  const Machine m = described("k-computer", "4x3x2");
  Registry mine;
  int compared = 0;
  for (const Variant& v : Registry::standard().variants()) {
    Variant copy = v;
    copy.name = "copy_of_something";
    mine.add(copy);
    const RankSpace space = Job(m).rank_space();
    const Collective collective = make_collective(v.kind, space.ranks(), 1 << 20);
    auto a = v.build(collective, space), b = mine.variants().back().build(collective, space);
    ASSERT_EQ(a.ok(), b.ok());
    if (!a || a->claims.offloads) continue;
    b->algorithm = "copy_of_something";
    EXPECT_EQ(to_json(predicted(*a, m)), to_json(predicted(*b, m))) << v.name;
    ++compared;
  }
  EXPECT_GE(compared, 50);
}

// Roles are words for people: other words, or one word for all, give the same figures.
TEST(Invariants, RolesDoNotMatter) {
  const Machine m = described("k-computer", "3x3x2");
  for_each_schedule(m, 1 << 22, [&](const Variant& v, const Schedule& s) {
    Schedule renamed = s;
    renamed.program = [program = s.program](Rank r) {
      Program p = program(r);
      for (Lane& lane : p.lanes) lane.role = "same";
      return p;
    };
    for (const ScheduleModel model : {ScheduleModel::flow, ScheduleModel::exact}) {
      const SchedulePrediction a = predicted(s, m, model);
      SchedulePrediction b = predicted(renamed, m, model);
      ASSERT_EQ(a.phases.size(), b.phases.size()) << v.name;
      for (std::size_t i = 0; i < a.phases.size(); ++i) b.phases[i].name = a.phases[i].name;
      EXPECT_EQ(to_json(a), to_json(b)) << v.name;
    }
  });
}

TEST(Invariants, ASlowNodeOrLinkShows) {
  const Machine m = described("k-computer", "4x4x4");
  for_each_schedule(m, 1 << 24, [&](const Variant& v, const Schedule& s) {
    if (v.kind == CollectiveKind::barrier) return; // no bytes, which alone are slow
    const double whole = predicted(s, m).seconds.value;
    Machine node = m;
    node.slow_nodes.push_back({NodeId{0}, 0.1});
    EXPECT_GT(predicted(s, node).seconds.value, whole * 1.01) << v.name;
    const SchedulePrediction busy = predicted(s, m);
    const auto most = std::max_element(busy.link_bytes.begin(), busy.link_bytes.end()) - busy.link_bytes.begin();
    Machine link = m;
    link.slow_links.push_back({NodeId{}, NodeId{}, LinkId{most}, 0.02});
    EXPECT_GT(predicted(s, link).seconds.value, whole * 1.01) << v.name;
  });
}

TEST(Invariants, PlacementMattersAndIsChecked) {
  const Machine m = described("k-computer", "8x8");
  const Schedule s = built(algorithm("ring"), m, 1 << 24);
  std::vector<NodeId> spread;
  for (std::int32_t r = 0; r < 64; ++r) spread.emplace_back(r * 27 % 64);
  const Slots slots = Job(m).slots;
  EXPECT_GT(simulate(s, m, *Placement::on_nodes(slots, spread))->seconds.value, simulate(s, m)->seconds.value);
  EXPECT_FALSE(simulate(s, m, Placement::block(Slots(64, 2), 64)).ok()) << "slots of another job";
  spread.pop_back();
  EXPECT_FALSE(simulate(s, m, *Placement::on_nodes(slots, spread)).ok()) << "a rank without a slot";
  EXPECT_FALSE(simulate(s, described("k-computer", "4x4")).ok()) << "64 ranks on 16 nodes";
}

TEST(Invariants, ResultsAreTheSameEachTime) {
  const Machine m = described("k-computer", "6x5x4");
  for (const char* name : {"trinaryx3", "recursive_doubling", "rabenseifner"}) {
    const Schedule s = built(algorithm(name), m, 1 << 22);
    EXPECT_EQ(to_json(predicted(s, m)), to_json(predicted(s, m))) << name;
  }
}

} // namespace
} // namespace kumihimo::simulate_test
