// The bounds, by hand, and as JSON.
#include "support.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace kumihimo::simulate_test {
namespace {

std::map<std::string, double> bounds(CollectiveKind kind, const Job& m, std::int64_t count) {
  const auto p = simulate_bound(make_collective(kind, m.machine.topology->nodes(), count), m);
  std::map<std::string, double> result;
  for (const LowerBound& b : p->bounds) result[b.name] = b.seconds.value;
  return result;
}

TEST(Bound, AllreduceOnATorus) {
  const Machine m = plain("4x4x4");
  const double bytes = 8e6, most = 63.0 / 64;
  const auto b = bounds(CollectiveKind::allreduce, m, 1'000'000);
  EXPECT_NEAR(b.at("latency"), 10e-6 + 3e-6 + 6 * 1e-6, 1e-15);
  EXPECT_NEAR(b.at("bandwidth"), 2 * bytes * most / 6e9, 1e-12);
  EXPECT_NEAR(b.at("injection"), 2 * bytes * most / 4e9, 1e-12);
  EXPECT_NEAR(b.at("bisection"), bytes / (2 * 16 * 1e9), 1e-12);
  EXPECT_NEAR(b.at("reduction"), bytes * most / 4e9, 1e-12);
}

TEST(Bound, AlltoallIsBoundByTheBisection) {
  const Machine m = plain("8");
  const auto b = bounds(CollectiveKind::alltoall, m, 1000);
  EXPECT_NEAR(b.at("bisection"), 8000.0 * 4 * 4 / 2e9, 1e-12);
  EXPECT_NEAR(b.at("injection"), 8000.0 * 7 / 4e9, 1e-12);
}

// The engine sums up 8 B in 1.45 us + 6 x 0.423 us.
TEST(Bound, HoldsForTheNetworksOwnEngine) {
  Machine m = described("fugaku", "4x4x4");
  m.software.relay_latency.value = {2.8e-6}; // messages are slower than the engine
  Schedule s = by_hand(64, 1, 1, [](std::int32_t, ProgramBuilder& p) {
    LaneBuilder engine(LaneId{0}, "engine", 1);
    engine.step(offload(out[whole()], in[whole()]));
    p.add(std::move(engine));
  });
  s.set_collective(make_collective(CollectiveKind::allreduce, 64, 1));
  for (const ScheduleModel model : {ScheduleModel::flow, ScheduleModel::exact}) {
    const SchedulePrediction p = predicted(s, m, model);
    EXPECT_NEAR(p.seconds.value, 1.45e-6 + 6 * 0.423e-6, 1e-15);
    EXPECT_LE(p.bound().value, p.seconds.value);
    EXPECT_GT(p.bound().value, 0);
  }
  EXPECT_GT(bounds(CollectiveKind::allreduce, m, 2).at("latency"), 4e-6) << "16 B are too many for it";
  Machine slow = m;
  slow.offload->stage_latency.value = {1e-3};
  EXPECT_GT(bounds(CollectiveKind::allreduce, slow, 1).at("latency"), 4e-6) << "messages have a bound of their own";
}

// On a row of eight nodes.
TEST(Bound, BlocksWithoutElementsGoNowhere) {
  const auto latency = [](CollectiveKind kind, const Job& m, std::vector<std::int64_t> counts) {
    const Collective c = *with_counts(make_collective(kind, m.rank_space().ranks(), 1), std::move(counts));
    const double bound = simulate_bound(c, m)->bounds.front().seconds.value;
    int told = 0;
    for (const Variant* variant : Registry::standard().variants(kind)) {
      const auto s = variant->build(c, m.rank_space(), {});
      if (!s) continue; // not on a row, or not of such blocks
      ++told;
      EXPECT_GE(predicted(*s, m).seconds.value, bound) << variant->name;
    }
    EXPECT_GT(told, 0) << name_of(kind);
    return bound;
  };
  const Machine row = plain("8m");
  for (const CollectiveKind kind : {CollectiveKind::gather, CollectiveKind::scatter}) {
    EXPECT_NEAR(latency(kind, row, {0, 1, 0, 0, 0, 0, 0, 0}), cost + relay + hop, 1e-15);
    EXPECT_NEAR(latency(kind, row, {1, 1, 0, 1, 0, 0, 0, 0}), cost + relay + 3 * hop, 1e-15);
    EXPECT_EQ(latency(kind, row, {1, 0, 0, 0, 0, 0, 0, 0}), 0) << "the root has its own";
  }
  for (const CollectiveKind kind : {CollectiveKind::allgather, CollectiveKind::reduce_scatter})
    EXPECT_NEAR(latency(kind, row, {0, 0, 0, 0, 1, 0, 0, 0}), cost + relay + 4 * hop, 1e-15) << "from the middle";
  std::vector<std::int64_t> pairs(64);
  pairs[2 * 8 + 4] = pairs[5 * 8 + 4] = 1;
  EXPECT_NEAR(latency(CollectiveKind::alltoall, row, pairs), cost + relay + 2 * hop, 1e-15);
  Job two = *Job::with_ranks_per_node(plain("4m"), 2);
  const double within = two.machine.node.shared_memory_latency.value.value;
  EXPECT_EQ(latency(CollectiveKind::gather, two, {1, 1, 0, 0, 0, 0, 0, 0}), within);
  two.machine.node.shared_memory_latency.value = {1};
  EXPECT_NEAR(latency(CollectiveKind::gather, two, {1, 1, 0, 0, 0, 0, 0, 0}), 2 * (cost + relay + hop), 1e-15);
}

TEST(Bound, NothingToDoTakesNoTime) {
  for (const auto& [name, seconds] : bounds(CollectiveKind::allreduce, plain("4x4"), 0)) EXPECT_EQ(seconds, 0) << name;
}

TEST(Json, HasUnitsInItsKeys) {
  const Machine m = plain("4x4x4");
  const auto j = nlohmann::json::parse(to_json(predicted(built(algorithm("trinaryx3"), m, 1 << 20), m)));
  for (const char* key : {"seconds", "compute_seconds", "communication_seconds", "latency_seconds", "steady_seconds",
                          "link_bytes_sum", "link_bytes_max", "links_waiting_share", "bound_seconds"})
    EXPECT_TRUE(j.at(key).is_number()) << key;
  EXPECT_EQ(j.at("model"), "flow");
  EXPECT_EQ(j.at("phases").size(), 2U);
  EXPECT_EQ(j.at("link_bytes").size(), 64U * 6);
}

} // namespace
} // namespace kumihimo::simulate_test
