// Messages within one node cost what the innermost level that both ranks share costs: times found with pencil and
// paper, the collective by a golden copy of its own; and levels without a difference make none.
#include "support.hpp"
#include "topology/single_node.hpp"

#include <algorithm>

namespace kumihimo::simulate_test {
namespace {

constexpr std::int32_t cores = 8;

Quantity<BytesPerSecond> rate(double value) { return {{value}, Provenance::assumed, "a test"}; }
Quantity<Seconds> time_of(double value) { return {{value}, Provenance::assumed, "a test"}; }

// Eight cores in two packages of two caches: 1 GB/s and 4 us between packages, 2 GB/s and 2 us within one, 4 GB/s and 1
// us within a cache. The memory carries all at once.
Machine flat_node() {
  Machine m = plain("1");
  m.family = Family::single_node;
  m.shape = Shape();
  m.set_topology(std::make_shared<SingleNode>());
  m.torus = nullptr;
  m.node.default_ranks_per_node.value = m.node.cores.value = cores;
  m.node.shared_memory_bandwidth.value = {1e9};
  m.node.shared_memory_latency.value = {4e-6};
  m.node.memory_bandwidth.value = {1e12};
  return m;
}

Machine node_of_levels() {
  Machine m = flat_node();
  EXPECT_TRUE(m.set_levels({{"package", 4}, {"l3", 2}}).ok());
  m.node.levels[0].bandwidth = rate(2e9), m.node.levels[0].latency = time_of(2e-6);
  m.node.levels[1].bandwidth = rate(4e9), m.node.levels[1].latency = time_of(1e-6);
  return m;
}

// Each pair's message of 1 MB, all at once.
Schedule messages(const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs) {
  return by_hand(cores, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
    for (std::size_t l = 0; l < pairs.size(); ++l) {
      LaneBuilder lane(LaneId{static_cast<std::int32_t>(l)}, "one", 1);
      if (r == pairs[l].first) lane.step(send(pairs[l].second, out[whole()]));
      if (r == pairs[l].second) lane.step(receive(pairs[l].first, out[whole()]));
      p.add(std::move(lane));
    }
  });
}

class NodeLevels : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(NodeLevels);

TEST_P(NodeLevels, AMessageCostsWhatTheInnermostSharedLevelDoes) {
  const Machine m = node_of_levels();
  EXPECT_NEAR(time(messages({{0, 1}}), m), 0.25e-3 + 1e-6, 1e-12) << "one cache";
  EXPECT_NEAR(time(messages({{1, 2}}), m), 0.5e-3 + 2e-6, 1e-12) << "one package";
  EXPECT_NEAR(time(messages({{6, 4}}), m), 0.5e-3 + 2e-6, 1e-12);
  EXPECT_NEAR(time(messages({{3, 4}}), m), 1e-3 + 4e-6, 1e-12) << "neighbours in two packages";
  EXPECT_NEAR(time(messages({{7, 0}}), m), 1e-3 + 4e-6, 1e-12);
}

TEST_P(NodeLevels, ALevelWithoutNumbersHasThoseAroundIt) {
  Machine m = node_of_levels();
  m.node.levels[1].bandwidth.reset();
  EXPECT_NEAR(time(messages({{0, 1}}), m), 0.5e-3 + 1e-6, 1e-12);
  m.node.levels[0].latency.reset();
  EXPECT_NEAR(time(messages({{0, 2}}), m), 0.5e-3 + 4e-6, 1e-12);
}

// Four messages leave the first package, whose links carry 2 GB/s; one inside it and one back meet none of them.
TEST_P(NodeLevels, LinksBetweenPackagesAreShared) {
  Machine m = node_of_levels();
  const Schedule out_of_it = messages({{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  EXPECT_NEAR(time(out_of_it, m), 1e-3 + 4e-6, 1e-12) << "nothing limits them together";
  m.node.levels[0].link_bandwidth = rate(2e9);
  EXPECT_NEAR(time(out_of_it, m), 2e-3 + 4e-6, 1e-12);
  EXPECT_NEAR(time(messages({{0, 4}, {1, 5}, {6, 2}, {7, 3}}), m), 1e-3 + 4e-6, 1e-12) << "each way for itself";
  EXPECT_NEAR(time(messages({{0, 2}, {1, 3}}), m), 0.5e-3 + 2e-6, 1e-12) << "within the package";
  m.node.levels[0].link_bandwidth = rate(0.5e9);
  const SchedulePrediction p = predicted(messages({{0, 4}}), m, GetParam());
  EXPECT_NEAR(p.seconds.value, 2e-3 + 4e-6, 1e-12) << "one alone";
}

// Recursive doubling of a barrier: three rounds, each of the level that its distance crosses.
// All share the memory, which carries them at once; a shorter one beside it makes the link no faster.
TEST_P(NodeLevels, ALinkLimitsAMessageBesideAShorterOne) {
  Machine m = node_of_levels();
  m.node.levels[0].link_bandwidth = rate(0.5e9);
  const Schedule s = by_hand(cores, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "one", 1);
    if (r == 0) lane.step(send(4, out[whole()]));
    if (r == 4) lane.step(receive(0, out[whole()]));
    if (r == 2) lane.step(send(3, out[part(0, 2)]));
    if (r == 3) lane.step(receive(2, out[part(0, 2)]));
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, m), 2e-3 + 4e-6, 1e-12);
}

TEST_P(NodeLevels, RecursiveDoublingPassesEachLevelOnce) {
  const Machine m = node_of_levels();
  const Schedule s = by_hand(cores, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "doubling", 1);
    for (const std::int32_t distance : {1, 2, 4})
      lane.round({send(r ^ distance, out[whole()]), receive(r ^ distance, in[whole()])});
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, m), 0.25e-3 + 1e-6 + 0.5e-3 + 2e-6 + 1e-3 + 4e-6, 1e-12);
}

// Golden copy of the binomial broadcast: when each rank has the data, message by message.
TEST_P(NodeLevels, ABinomialBroadcastAsAGoldenCopyHasIt) {
  const Machine m = node_of_levels();
  const auto seconds_between = [](std::int32_t a, std::int32_t b) {
    if (a / 2 == b / 2) return 0.25e-3 + 1e-6;
    return a / 4 == b / 4 ? 0.5e-3 + 2e-6 : 1e-3 + 4e-6;
  };
  const auto bandwidth_part = [](std::int32_t a, std::int32_t b) {
    if (a / 2 == b / 2) return 0.25e-3;
    return a / 4 == b / 4 ? 0.5e-3 : 1e-3;
  };
  const Schedule s = by_hand(cores, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "binomial", 1);
    if (r > 0) lane.step(receive(r & (r - 1), out[whole()]));
    for (const std::int32_t far : {4, 2, 1})
      if (r % (2 * far) == 0) lane.step(send(r + far, out[whole()]));
    p.add(std::move(lane));
  });
  std::vector<double> has(cores), free(cores);
  double end = 0;
  for (const std::int32_t far : {4, 2, 1})
    for (std::int32_t r = 0; r < cores; r += 2 * far) {
      const double start = std::max(has[r], free[r]);
      has[r + far] = start + seconds_between(r, r + far);
      free[r] = start + bandwidth_part(r, r + far);
      end = std::max({end, has[r + far], free[r]});
    }
  EXPECT_NEAR(time(s, m), end, 1e-12);
}

TEST_P(NodeLevels, LevelsOfTheSameFiguresAreTheFlatNode) {
  const Machine flat = flat_node();
  Machine same = node_of_levels(), unsaid = flat_node();
  EXPECT_TRUE(unsaid.set_levels({{"package", 4}, {"l3", 2}}).ok());
  for (LevelNumbers& level : same.node.levels) level.bandwidth = rate(1e9), level.latency = time_of(4e-6);
  for (const auto kind : {CollectiveKind::allreduce, CollectiveKind::bcast, CollectiveKind::alltoall}) {
    int told = 0;
    for (const Variant* variant : Registry::standard().variants(kind)) {
      SCOPED_TRACE(variant->name);
      const Collective c = make_collective(kind, cores, 8 * 1024);
      const auto s = variant->build(c, Job(flat).rank_space(), {});
      if (!s) continue; // not on one node
      const auto expected = asked(*s, flat);
      ASSERT_EQ(expected.ok(), asked(*s, same).ok());
      if (!expected) continue;
      ++told;
      for (const Machine& m : {same, unsaid}) {
        const auto found = asked(*s, m);
        EXPECT_EQ(found->seconds.value, expected->seconds.value);
        EXPECT_EQ(found->bound().value, expected->bound().value);
      }
    }
    EXPECT_GT(told, 0) << name_of(kind);
  }
}

// As RankSpace: ranks share the levels of their cores, and more ranks than cores share none.
TEST_P(NodeLevels, LevelsAreThoseOfTheRankSpace) {
  const Machine m = node_of_levels();
  EXPECT_EQ(Job(m).rank_space().levels(), m.levels);
  const Job crowded = *Job::with_ranks_per_node(m, 2 * cores);
  EXPECT_TRUE(crowded.rank_space().levels().empty());
  EXPECT_NEAR(time(messages({{0, 1}}), crowded), 1e-3 + 4e-6, 1e-12);
  const Job two = *Job::with_ranks_per_node(m, 2);
  EXPECT_TRUE(two.rank_space().levels().empty()) << "both ranks are in all of them";
  const Schedule s = by_hand(2, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "one", 1);
    lane.step(r == 0 ? send(1, out[whole()]) : receive(0, out[whole()]));
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, two), 0.25e-3 + 1e-6, 1e-12) << "and share its cache";
}

// Each schedule of the registry: of equal blocks; of blocks of ranks within one cache, and within another package than
// rank 0's; of one alone.
TEST_P(NodeLevels, NoScheduleIsBelowTheBounds) {
  const Machine m = node_of_levels();
  const std::vector<std::vector<std::int64_t>> few = {
      {1, 1, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 2, 1, 0}, {0, 0, 0, 1, 0, 0, 0, 0}};
  const auto check = [&](const Collective& c) {
    int told = 0;
    for (const Variant* variant : Registry::standard().variants(c.kind)) {
      SCOPED_TRACE(variant->name);
      const auto s = variant->build(c, Job(m).rank_space(), {});
      if (!s) continue; // not on one node, or not of such blocks
      const auto p = asked(*s, m);
      if (!p) continue;
      ++told;
      for (const LowerBound& bound : p->bounds)
        EXPECT_GE(p->seconds.value, bound.seconds.value * (1 - 1e-9)) << bound.name;
    }
    EXPECT_GT(told, 0);
  };
  for (const CollectiveKind kind : all_collectives) {
    if (kind->of_neighbours()) continue;
    SCOPED_TRACE(name_of(kind));
    for (const std::int64_t count : {1, 1024}) check(make_collective(kind, cores, count));
    if (kind->irregular == Counts::Known::uniform) continue;
    for (const auto& counts : few) {
      std::vector<std::int64_t> table = counts;
      if (kind == CollectiveKind::alltoall) { // each rank sends within these
        table.clear();
        for (const std::int64_t from : counts)
          for (const std::int64_t to : counts) table.push_back(from * to);
      }
      check(*with_counts(make_collective(kind, cores, 1), table));
    }
  }
}

TEST(NodeLevels, TheBoundIsTheInnermostLevelOfAllRanksThatHaveElements) {
  Machine m = node_of_levels();
  const auto of_counts = [&](std::vector<std::int64_t> counts) {
    const Collective c = make_collective(CollectiveKind::gather, cores, 1);
    return simulate_bound(*with_counts(c, std::move(counts)), m)->bounds.front().seconds.value;
  };
  EXPECT_EQ(of_counts({1, 1, 0, 0, 0, 0, 0, 0}), 1e-6);
  EXPECT_EQ(of_counts({0, 0, 0, 1, 0, 0, 0, 0}), 2e-6);
  EXPECT_EQ(of_counts({0, 1, 0, 0, 0, 1, 0, 0}), 4e-6);
  EXPECT_EQ(of_counts({1, 0, 0, 0, 0, 0, 0, 0}), 0) << "the root has its own";
  const auto latency = [&](std::int32_t ranks) {
    return simulate_bound(make_collective(CollectiveKind::bcast, ranks, 1), m)->bounds.front().seconds.value;
  };
  EXPECT_EQ(latency(2), 1e-6);
  EXPECT_EQ(latency(4), 2e-6);
  EXPECT_EQ(latency(5), 4e-6);
  m.node.shared_memory_latency.value = {0.5e-6}; // a relay in the other package would be quicker
  EXPECT_EQ(latency(4), 0.5e-6);
}

// The word for what limits says which links.
TEST(NodeLevels, LinksOfLevelsHaveNames) {
  Machine m = node_of_levels();
  m.node.levels[0].link_bandwidth = rate(1e9);
  const Schedule s = by_hand(cores, 64 * million, 64, [](std::int32_t r, ProgramBuilder& p) {
    for (std::int32_t l = 0; l < 4; ++l) {
      LaneBuilder lane(LaneId{l}, "out", 8);
      if (r == l) lane.step(send(4 + l, out[whole()]));
      if (r == 4 + l) lane.step(receive(l, out[whole()]));
      p.add(std::move(lane));
    }
  });
  const SchedulePrediction p = predicted(s, m);
  EXPECT_NEAR(p.seconds.value, 64 * 4e-3 + 4e-6, 1e-6);
  EXPECT_EQ(p.limiting, "links out of package 0");
}

} // namespace
} // namespace kumihimo::simulate_test
