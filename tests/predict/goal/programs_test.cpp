#include "collectives/registry.hpp"
#include "goal/programs.hpp"
#include "goal/text.hpp"
#include "program/builder.hpp"
#include "program/named_programs.hpp"

#include <gtest/gtest.h>

namespace kumihimo::goal {
namespace {

Schedule built(CollectiveKind kind, std::string_view name, std::int32_t ranks, std::int64_t doubles,
               const Parameters& parameters = {}, const std::optional<RankSpace>& space = {}) {
  const Variant& variant = **Registry::standard().find(kind, name);
  auto schedule =
      variant.build(make_collective(kind, ranks, doubles), space ? *space : RankSpace::row(ranks), parameters);
  EXPECT_TRUE(schedule) << schedule.error().sentence();
  return *std::move(schedule);
}

Graphs made(const ProgramSet& set, const WorkRates& rates = {}) {
  auto graphs = graphs_of(set, rates);
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  return *std::move(graphs);
}

// A set of programs written here, over vectors of `elements` doubles.
ProgramSet by_hand(std::int32_t ranks, std::int64_t elements, std::int64_t segments,
                   const std::function<void(std::int32_t, ProgramBuilder&)>& fill) {
  ProgramSet set;
  set.data = one_buffer(ranks, elements);
  set.segments = {segments};
  set.program = [=](Rank rank) {
    ProgramBuilder program(Segments{segments});
    fill(rank.value, program);
    return program.finish();
  };
  return set;
}

std::int64_t count(const Graph& graph, Kind kind) {
  return std::count_if(graph.operations.begin(), graph.operations.end(),
                       [&](const GraphOperation& each) { return each.kind == kind; });
}

// Whether `later` waits for the end of `earlier`, at once or over others.
bool follows(const Graph& graph, std::uint32_t later, std::uint32_t earlier) {
  std::vector<std::uint32_t> stack{earlier};
  std::vector<bool> seen(graph.operations.size());
  while (!stack.empty()) {
    const GraphOperation& of = graph.operations[stack.back()];
    stack.pop_back();
    for (std::uint32_t d = of.first; d < of.first + of.after_end; ++d) {
      if (graph.dependents[d] == later) return true;
      if (!seen[graph.dependents[d]]) seen[graph.dependents[d]] = true, stack.push_back(graph.dependents[d]);
    }
  }
  return false;
}

// The text of a rank's graph, as a reader of GOAL sees it.
std::string text_of_rank(const Graphs& graphs, std::int32_t rank) {
  const std::string text = text_of(graphs);
  const auto begin = text.find("rank " + std::to_string(rank) + " {\n");
  return text.substr(begin, text.find("}\n", begin) + 2 - begin);
}

TEST(Programs, ADisseminationBarrierIsOneGraphAtAnySize) {
  for (const std::int32_t ranks : {2, 5, 64, 1000}) {
    const Graphs graphs = made(built(CollectiveKind::barrier, "dissemination", ranks, 0));
    const auto rounds = static_cast<std::int64_t>(std::bit_width(static_cast<unsigned>(ranks - 1)));
    EXPECT_EQ(graphs.different(), 1U) << ranks;
    EXPECT_EQ(count(graphs.of(0), Kind::send), rounds);
    EXPECT_EQ(count(graphs.of(0), Kind::receive), rounds);
    EXPECT_EQ(count(graphs.of(0), Kind::calc), 0);
    EXPECT_EQ(graphs.of(ranks - 1).operations[0].size, 1U);
  }
}

// Blocks of 8 doubles: three receives with sums, three without; each round waits for the one before.
TEST(Programs, ARingAllreduceSumsBehindItsReceives) {
  Parameters one;
  one.segments = 1;
  WorkRates rates;
  rates.reduced = 1e9;
  const Graphs graphs = made(built(CollectiveKind::allreduce, "ring", 4, 32, one), rates);
  EXPECT_EQ(graphs.different(), 1U);
  const Graph& graph = graphs.of(2);
  EXPECT_EQ(count(graph, Kind::send), 6);
  EXPECT_EQ(count(graph, Kind::receive), 6);
  EXPECT_EQ(count(graph, Kind::calc), 3);
  std::vector<std::uint32_t> rounds; // their receives
  for (std::uint32_t i = 0; i < graph.operations.size(); ++i) {
    const GraphOperation& each = graph.operations[i];
    if (each.kind == Kind::calc) {
      EXPECT_EQ(each.size, 64'000U); // picoseconds
      continue;
    }
    if (each.kind == Kind::join) continue;
    const bool sends = each.kind == Kind::send;
    EXPECT_EQ(each.size, 64U);
    EXPECT_EQ(graphs.peer(2, each.peer), sends ? 3 : 1);
    if (!sends) rounds.push_back(i);
  }
  for (std::size_t later = 0; later < rounds.size(); ++later)
    for (std::size_t earlier = 0; earlier < rounds.size(); ++earlier)
      EXPECT_EQ(follows(graph, rounds[later], rounds[earlier]), earlier < later);
  rates.reduced = 0;
  EXPECT_EQ(count(made(built(CollectiveKind::allreduce, "ring", 4, 32, one), rates).of(0), Kind::calc), 0);
}

TEST(Programs, RanksOfUnequalBlocksHaveGraphsOfTheirOwn) {
  Parameters one;
  one.segments = 1;
  EXPECT_EQ(made(built(CollectiveKind::allreduce, "ring", 4, 33, one)).different(), 4U);
}

// Two messages of each segment on a lane: of segment 2 they wait for those of segment 0, not of segment 1.
TEST(Programs, AWindowIsHowManySegmentsAreUnderWay) {
  for (const std::int64_t window : {1, 2}) {
    const ProgramSet set = by_hand(2, 60, 3, [&](std::int32_t rank, ProgramBuilder& program) {
      LaneBuilder lane(LaneId{0}, "", window);
      for (int part = 0; part < 2; ++part) {
        const Chunk data = in[kumihimo::part(part, 2)];
        lane.step(rank == 0 ? send(1, data) : receive(0, data));
      }
      program.add(std::move(lane));
    });
    const Graphs graphs = made(set);
    const Graph& graph = graphs.of(1);
    std::vector<std::uint32_t> received;
    std::vector<std::uint32_t> tags;
    for (std::uint32_t i = 0; i < graph.operations.size(); ++i)
      if (graph.operations[i].kind == Kind::receive) received.push_back(i), tags.push_back(graph.operations[i].tag);
    ASSERT_EQ(received.size(), 6U);
    EXPECT_TRUE(follows(graph, received[1], received[0]));
    EXPECT_TRUE(follows(graph, received[4], received[1]));
    EXPECT_EQ(follows(graph, received[2], received[1]), window == 1);
    std::sort(tags.begin(), tags.end());
    EXPECT_EQ(std::unique(tags.begin(), tags.end()), tags.end()); // no segment takes a message of another
  }
}

TEST(Programs, LanesWaitForOthersAndShareProcessorsAndInterfaces) {
  const ProgramSet set = by_hand(2, 8, 1, [](std::int32_t rank, ProgramBuilder& program) {
    for (std::int32_t id = 0; id < 3; ++id) {
      LaneBuilder lane(LaneId{id}, "", 1);
      if (id == 2) lane.after({LaneId{0}, LaneId{1}}, Scope::all);
      lane.round({rank == 0 ? send(1, in[whole()]) : receive(0, in[whole()]), compute({1e-6, 0, 0})});
      program.add(std::move(lane));
    }
  });
  WorkRates rates;
  rates.cpus = 3, rates.nics = 3;
  const Graphs graphs = made(set, rates);
  EXPECT_EQ(graphs.cpus(), 3);
  EXPECT_EQ(graphs.nics(), 3);
  const Graph& graph = graphs.of(0);
  EXPECT_EQ(count(graph, Kind::join), 1); // two operations wait for four; no two lanes meet otherwise
  EXPECT_EQ(count(graph, Kind::calc), 3);
  std::vector<std::uint32_t> sends;
  for (std::uint32_t i = 0; i < graph.operations.size(); ++i)
    if (graph.operations[i].kind == Kind::send) sends.push_back(i);
  EXPECT_TRUE(follows(graph, sends[2], sends[0]) && follows(graph, sends[2], sends[1]));
  EXPECT_FALSE(follows(graph, sends[1], sends[0]));
  EXPECT_EQ(graph.operations[sends[2]].cpu, 1);
  EXPECT_EQ(graph.operations[sends[2]].nic, 2);
}

TEST(Programs, AreAppendedBetweenOtherOperations) {
  const ProgramSet set = built(CollectiveKind::barrier, "dissemination", 3, 0);
  ProgramOperations operations(set, {}, {100, 1 << 20});
  GraphBuilder builder;
  GraphOperation calc;
  calc.kind = Kind::calc, calc.size = 5;
  const std::vector<std::uint32_t> before{builder.add(calc)};
  const auto distance = [](std::int32_t peer) { return 10 * peer; };
  const auto end = operations.append(builder, Rank{0}, before, distance);
  ASSERT_TRUE(end);
  const std::uint32_t last = builder.add(calc);
  for (const std::uint32_t on : *end) builder.after_end(last, on);
  const Graph graph = builder.finish();
  ASSERT_EQ(graph.operations.size(), 7U); // two rounds, and a join between them
  for (std::uint32_t i = 1; i < 6; ++i) {
    EXPECT_TRUE(follows(graph, i, 0));
    EXPECT_TRUE(follows(graph, last, i));
    if (graph.operations[i].kind == Kind::join) continue;
    EXPECT_EQ(graph.operations[i].peer % 10, 0);
    EXPECT_GE(graph.operations[i].tag, 100U);
  }
}

TEST(Programs, WithoutStepsEndWhereTheyStart) {
  const ProgramSet set = by_hand(2, 0, 4, [](std::int32_t rank, ProgramBuilder& program) {
    LaneBuilder lane(LaneId{0}, "", 2);
    lane.step(rank == 0 ? send(1, in[whole()]) : receive(0, in[whole()])); // of no elements
    program.add(std::move(lane));
  });
  GraphBuilder builder;
  builder.add({});
  const std::vector<std::uint32_t> before{0};
  ProgramOperations operations(set, {});
  const auto end = operations.append(builder, Rank{0}, before, [](std::int32_t peer) { return peer; });
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, before);
  EXPECT_EQ(builder.size(), 1U);
}

TEST(Programs, WrongOnesAreRefusedByRank) {
  const auto error = [](const ProgramSet& set, const WorkRates& rates = {}) {
    const auto graphs = graphs_of(set, rates);
    return graphs ? "none" : graphs.error().sentence();
  };
  const auto one_step = [](const Step& step) {
    return by_hand(3, 8, 1, [=](std::int32_t rank, ProgramBuilder& program) {
      LaneBuilder lane(LaneId{0}, "", 1);
      if (rank == 1) lane.step(step);
      program.add(std::move(lane));
    });
  };
  EXPECT_EQ(error(one_step(send(3, in[whole()]))),
            "rank 1: a peer must be a rank from 0 to 2 (got 3); check it with kumihimo verify");
  EXPECT_EQ(error(one_step(compute({0, 5, 0}))),
            "rank 1: a compute step of 5 flops and 0 bytes needs the rates of a machine; give its time in seconds, or "
            "a --machine with these rates");
  EXPECT_EQ(error(one_step(offload())), "graphs of operations know no engine of the network, which an offload step "
                                        "needs; take another algorithm, or simulate it alone in the model flow");
  const ProgramSet circle = by_hand(2, 8, 1, [](std::int32_t, ProgramBuilder& program) {
    for (std::int32_t id = 0; id < 2; ++id) {
      LaneBuilder lane(LaneId{id}, "", 1);
      lane.after({LaneId{1 - id}}, Scope::all);
      lane.step(compute({1e-6, 0, 0}));
      program.add(std::move(lane));
    }
  });
  EXPECT_EQ(error(circle), "rank 0: its lanes wait for each other; check it with kumihimo verify");
  WorkRates few;
  few.most = 100;
  EXPECT_TRUE(error(built(CollectiveKind::allreduce, "ring", 64, 64), few).starts_with("rank 0: programs must be"));
  few.most = 1000;
  EXPECT_TRUE(error(built(CollectiveKind::allreduce, "recursive_doubling", 256, 64), few)
                  .starts_with("all different programs together must be at most 1000 operations (got more at rank"))
      << error(built(CollectiveKind::allreduce, "recursive_doubling", 256, 64), few);
}

// On a ring of 9: h - 1 messages of idle time behind one over distance h.
TEST(Programs, AGapIsAShareOfItsMessage) {
  const Graphs graphs = made(built(CollectiveKind::alltoall, "paced", 9, 4096, {}, RankSpace::box(*Shape::parse("9"))));
  std::int64_t paced = 0;
  for (const GraphOperation& each : graphs.of(3).operations) {
    if (each.kind != Kind::send) {
      EXPECT_EQ(each.gap, 0U);
      continue;
    }
    const std::int32_t forward = each.peer, distance = std::min(forward, 9 - forward);
    EXPECT_EQ(each.gap, 1000U * static_cast<std::uint32_t>(distance - 1));
    paced += each.gap > 0;
  }
  EXPECT_GT(paced, 0);
}

TEST(Programs, AreWrittenAsGoal) {
  const Graphs graphs = made(built(CollectiveKind::barrier, "dissemination", 2, 0));
  EXPECT_NE(text_of_rank(graphs, 1).find("send 1b to 0"), std::string::npos) << text_of_rank(graphs, 1);
}

} // namespace
} // namespace kumihimo::goal
