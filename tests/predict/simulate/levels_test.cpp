// The combinator of levels pipelines across them: while the leaders exchange one segment, nodes reduce the next and
// spread the last. So many segments take the time of the slowest stage, and of one segment of each other.
#include "support.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::simulate_test {
namespace {

constexpr std::int64_t segments = 64;

// Ranks 0 to 9 on four nodes, of 4, 1, 3 and 2 of them.
const std::vector<NodeId>& unequal_nodes() {
  static const std::vector<NodeId> nodes = [] {
    std::vector<NodeId> all;
    for (const std::int32_t node : {0, 0, 0, 0, 1, 2, 2, 2, 3, 3}) all.emplace_back(node);
    return all;
  }();
  return nodes;
}

class Levels : public BothModels {
 protected:
  Levels() : machine_(plain("4")) {
    // Latencies are not what this is about; a copy within a node is as fast as a link, and all of its ranks copy at
    // once.
    machine_.network.hop_latency.value = machine_.software.message_cost.value = machine_.software.relay_latency.value =
        machine_.node.shared_memory_latency.value = {1e-9};
    machine_.node.shared_memory_bandwidth.value = {1e9};
    machine_.node.memory_bandwidth.value = {64e9};
    machine_.node.default_ranks_per_node.value = 4;
  }

  Schedule built(CollectiveKind kind, std::int64_t cut) const {
    Parameters p;
    p.segments = cut;
    p.window = 4;
    const RankSpace space = RankSpace::recognise(*Shape::parse("4"), unequal_nodes());
    const Collective c = make_collective(kind, 10, 16 * million);
    return *algorithm("hierarchical", kind).build(c, space, p);
  }

  double time(const Schedule& s) const {
    SimulateOptions options;
    options.model = GetParam();
    const auto p = simulate(s, machine_, Placement::on_nodes(Job(machine_).slots, unequal_nodes()).value(), options);
    EXPECT_TRUE(p.ok()) << (p ? "" : p.error().sentence());
    return p ? p->seconds.value : 0;
  }

  // Only the lanes whose roles begin with this.
  static Schedule stage(Schedule s, const std::string& role) {
    s.program = [whole = s.program, role](Rank r) {
      Program program = whole(r);
      std::erase_if(program.lanes, [&](const Lane& lane) { return lane.role.rfind(role, 0) != 0; });
      return program;
    };
    return s;
  }

  // As if a stage waited for all of the stages before.
  static Schedule one_by_one(Schedule s) {
    s.program = [whole = s.program](Rank r) {
      Program program = whole(r);
      for (Lane& lane : program.lanes)
        for (After& after : lane.after) after.scope = Scope::all;
      return program;
    };
    return s;
  }

  Machine machine_;
};
KUMIHIMO_IN_BOTH_MODELS(Levels);

struct Stages {
  CollectiveKind kind;
  std::vector<std::string> roles;
};

TEST_P(Levels, StagesOverlapSegmentBySegment) {
  using Kind = CollectiveKind;
  const std::vector<Stages> kinds = {
      {Kind::allreduce, {"reduce within", "allreduce between", "bcast within"}},
      {Kind::bcast, {"bcast between", "bcast within"}},
      {Kind::reduce, {"reduce within", "reduce between"}},
  };
  for (const Stages& k : kinds) {
    SCOPED_TRACE(name_of(k.kind));
    const Schedule s = built(k.kind, segments);
    std::vector<double> alone; // of each stage, in segments
    for (const std::string& role : k.roles) alone.push_back(time(stage(s, role)));
    const double slowest = *std::max_element(alone.begin(), alone.end()),
                 sum = std::accumulate(alone.begin(), alone.end(), 0.0), together = time(s);
    EXPECT_GE(together, slowest * 0.999);
    // Of each other stage one segment, on its way over three ranks and more until the slowest stage is at work.
    EXPECT_LE(together, 1.05 * slowest + 4 * (sum - slowest) / segments);
    EXPECT_LT(together, 0.75 * sum);
    EXPECT_GT(time(one_by_one(s)), 0.98 * sum) << "stages that wait for each other are not found";
  }
}

// A machine that knows how many ranks each of its nodes has places them as the list of their nodes does.
TEST_P(Levels, AMachineOfUnequalNodesPlacesTheRanks) {
  const Job machine = *Job::with_node_sizes(machine_, {4, 1, 3, 2});
  EXPECT_EQ(machine.rank_space().nodes(), RankSpace::recognise(*Shape::parse("4"), unequal_nodes()).nodes());
  SimulateOptions options;
  options.model = GetParam();
  const Schedule s = built(CollectiveKind::allreduce, 4);
  EXPECT_EQ(simulate(s, machine, {}, options)->seconds.value, time(s));
  const Collective more = make_collective(CollectiveKind::barrier, 11, 0);
  const auto refused = simulate_bound(more, machine);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().sentence().find("hold at most 10 ranks"), std::string::npos);
}

} // namespace
} // namespace kumihimo::simulate_test
