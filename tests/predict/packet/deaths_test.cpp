// Nodes that die in the middle: times by hand, and the set of operations that end against the golden copy.
#include "../goal/fixed_point.hpp"
#include "goal/text.hpp"
#include "packet/graphs.hpp"
#include "small_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace kumihimo::packet::deaths {
namespace {

constexpr Time ns = 1000;

goal::Graphs graphs_of(const std::string& text) {
  auto graphs = goal::parse_text(text, "a.goal");
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  return *std::move(graphs);
}

std::vector<std::int32_t> one_each(const goal::Graphs& graphs) {
  std::vector<std::int32_t> nodes(static_cast<std::size_t>(graphs.ranks()));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

GraphOutcome with(const Machine& machine, const goal::Graphs& graphs, std::vector<std::int32_t> nodes,
                  std::vector<NodeDeath> deaths, PacketOptions options = {}) {
  options.deaths = std::move(deaths);
  auto outcome = run(machine, graphs, nodes, options);
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  return *std::move(outcome);
}

// The software takes 2000 ns, the link 1000 ns of 1 packet: the last byte leaves at 3000.
TEST(PacketDeaths, AMessageWhoseLastByteHasLeftArrives) {
  const goal::Graphs graphs = graphs_of(
      "num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: calc 9000\nb requires a\n}\nrank 1 {\nrecv 1000b from 0\n}\n");
  const Machine machine = torus("8");
  EXPECT_EQ(with(machine, graphs, {0, 1}, {{0, 3001 * ns}}).aftermath->complete, 1);
  const auto cut = *with(machine, graphs, {0, 1}, {{0, 3000 * ns}}).aftermath;
  EXPECT_EQ(cut.complete, 0);
  EXPECT_EQ(cut.waiting_directly, 1);
  EXPECT_EQ(cut.chain, (std::vector<std::string>{"rank 1: receive operation 0 (1000 bytes from rank 0, tag 0)"}));
}

// 5 packets of 2048 bytes: after a death in the middle the engine starts no further one.
TEST(PacketDeaths, EnginesStop) {
  const goal::Graphs graphs =
      graphs_of("num_ranks 2\nrank 0 {\nsend 10240b to 1\n}\nrank 1 {\nrecv 10240b from 0\n}\n");
  const Machine machine = torus("8");
  EXPECT_EQ(with(machine, graphs, {0, 1}, {{7, 1}}).traffic.packets, 5U);
  EXPECT_EQ(with(machine, graphs, {0, 1}, {{0, 2000 * ns + 2500 * ns}}).traffic.packets, 2U);
  EXPECT_EQ(with(machine, graphs, {0, 1}, {{0, 1999 * ns}}).traffic.packets, 0U);
}

// From node 0 to 2 through node 1, which is dead.
TEST(PacketDeaths, TheRouterOfADeadNodeForwards) {
  const goal::Graphs graphs = graphs_of("num_ranks 3\nrank 0 {\nsend 1000b to 2\n}\nrank 1 {\ncalc 100\n}\n"
                                        "rank 2 {\nrecv 1000b from 0\n}\n");
  const GraphOutcome outcome = with(torus("8m"), graphs, {0, 1, 2}, {{1, 0}});
  EXPECT_EQ(outcome.aftermath->complete, 2);
  EXPECT_EQ(outcome.end[2], (2000 + 200 + 1000 + 3000) * ns);
}

TEST(PacketDeaths, AllRanksOfTheNodeDie) {
  const goal::Graphs graphs =
      graphs_of("num_ranks 4\nrank 0 {\ncalc 100\n}\nrank 1 {\ncalc 100\n}\nrank 2 {\ncalc 100\n}\n"
                "rank 3 {\nsend 8b to 0\n}\n");
  const auto after = *with(torus("8"), graphs, {5, 5, 6, 6}, {{5, 50 * ns}}).aftermath;
  EXPECT_EQ(after.died, 2);
  EXPECT_EQ(after.complete, 2); // nobody receives the message, which its sender does not learn
}

TEST(PacketDeaths, NodesExist) {
  const goal::Graphs graphs = graphs_of("num_ranks 1\nrank 0 {\ncalc 1\n}\n");
  PacketOptions options;
  options.deaths = {{8, 0}};
  EXPECT_FALSE(run(torus("8"), graphs, std::vector<std::int32_t>{0}, options));
}

struct Case {
  goal::Graphs graphs;
  std::vector<std::int32_t> nodes;
  Machine machine;
  GraphOutcome outcome; // without faults
  PacketOptions options;
};

Case random_case(std::uint64_t seed, bool sends_wait = false) {
  goal::Graphs graphs = graphs_of(goal::random_program(seed, !sends_wait));
  std::vector<std::int32_t> nodes = one_each(graphs);
  if (seed % 3 == 0)
    for (auto& node : nodes) node /= 2; // two ranks a node
  const std::string network =
      seed % 2 ? "injection_bandwidth = { value = \"1 GB/s\", published = \"a\" }\n" : std::string();
  const char* const shapes[] = {"8", "4x2", "3x3m"};
  const bool tree = seed % 5 == 0;
  const Machine on = tree ? machine("family = \"fat_tree\"\narity = \"4x2\"\nparents = \"1x2\"", network)
                          : torus(shapes[seed % 3], network);
  PacketOptions options;
  options.packet_bytes = 512, options.waits_for_receive = sends_wait;
  if (seed % 4 == 0 && !tree) options.routing = Routing::adaptive;
  GraphOutcome outcome = with(on, graphs, nodes, {{0, goal::never}}, options);
  return {std::move(graphs), std::move(nodes), on, std::move(outcome), options};
}

goal::Done golden(const Case& of, const NodeDeath& death) {
  std::vector<bool> dies;
  for (const std::int32_t node : of.nodes) dies.push_back(node == death.node);
  const auto before = [&](std::int32_t rank, std::uint32_t i) { return of.outcome.ends->of(rank, i) < death.time; };
  goal::FixedPoint fixed{of.graphs, dies, before, before}; // a send ends when its last byte leaves
  if (of.options.waits_for_receive)
    fixed.posted_before = [&](std::int32_t rank, std::uint32_t i) { // when all that it waits for has ended
      const goal::Graph& graph = of.graphs.of(rank);
      Time posted = 0;
      for (std::uint32_t on = 0; on < graph.operations.size(); ++on)
        for (std::uint32_t d = 0; d < graph.operations[on].after_end; ++d)
          if (graph.dependents[graph.operations[on].first + d] == i)
            posted = std::max(posted, of.outcome.ends->of(rank, on));
      return posted < death.time;
    };
  return fixed.solve();
}

NodeDeath death_in(const Case& of, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t rank = random() % of.nodes.size();
  NodeDeath death{of.nodes[rank], random() % (of.outcome.last + 2)};
  const std::size_t operations = of.graphs.of(static_cast<std::int32_t>(rank)).operations.size();
  if (seed % 2 == 0 && operations > 0)
    death.time =
        of.outcome.ends->of(static_cast<std::int32_t>(rank), static_cast<std::uint32_t>(random() % operations));
  return death;
}

void compare_with_golden(bool sends_wait) {
  int fewer = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Case of = random_case(seed, sends_wait);
    const NodeDeath death = death_in(of, seed);
    const GraphOutcome outcome = with(of.machine, of.graphs, of.nodes, {death}, of.options);
    const goal::Done expected = golden(of, death);
    ASSERT_EQ(goal::done(of.graphs, *outcome.ends), expected) << seed;
    for (std::int32_t rank = 0; rank < of.graphs.ranks(); ++rank)
      for (std::uint32_t i = 0; i < of.graphs.of(rank).operations.size(); ++i)
        if (of.outcome.ends->of(rank, i) < death.time) {
          ASSERT_EQ(outcome.ends->of(rank, i), of.outcome.ends->of(rank, i)) << seed;
        }
    fewer += expected != goal::done(of.graphs, *of.outcome.ends);
  }
  EXPECT_GT(fewer, 100);
}

TEST(PacketDeaths, WhichOperationsEndIsWhatTheGraphsSay) { compare_with_golden(false); }
TEST(PacketDeaths, ThatHoldsIfSendsWaitForTheirReceives) { compare_with_golden(true); }

// The receive is posted at 5000 ns. Posted before the death, the message goes, and is lost.
TEST(PacketDeaths, ASendWaitsForAReceiveThatIsNeverPosted) {
  const goal::Graphs graphs = graphs_of("num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: calc 10\nb irequires a\n}\n"
                                        "rank 1 {\na: calc 5000\nb: recv 1000b from 0\nb requires a\n}\n");
  PacketOptions options;
  options.waits_for_receive = true;
  const auto never_posted = *with(torus("8"), graphs, {0, 1}, {{1, 4000 * ns}}, options).aftermath;
  EXPECT_EQ(never_posted.waiting_directly, 1);
  EXPECT_EQ(never_posted.chain, (std::vector<std::string>{"rank 0: send 'a' (1000 bytes to rank 1, tag 0)"}));
  EXPECT_EQ(with(torus("8"), graphs, {0, 1}, {{1, 6000 * ns}}, options).aftermath->complete, 1);
}

TEST(PacketDeaths, TheGoldenCopyCatchesWrongEngines) {
  int forgotten = 0, late = 0, other = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Case of = random_case(seed);
    const NodeDeath death = death_in(of, seed);
    const goal::Done expected = golden(of, death);
    const auto sabotaged = [&](const NodeDeath& wrong) {
      return goal::done(of.graphs, *with(of.machine, of.graphs, of.nodes, {wrong}, of.options).ends) != expected;
    };
    forgotten += goal::done(of.graphs, *of.outcome.ends) != expected;
    late += sabotaged({death.node, death.time + 5000 * ns});
    other += sabotaged({(death.node + 1) % (of.nodes.back() + 1), death.time});
  }
  EXPECT_GT(forgotten, 20);
  EXPECT_GT(late, 10);
  EXPECT_GT(other, 20);
}

TEST(PacketDeaths, AfterTheEndChangesNothing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Case of = random_case(seed);
    const GraphOutcome outcome = with(of.machine, of.graphs, of.nodes, {{0, of.outcome.last + 1}}, of.options);
    EXPECT_EQ(outcome.end, of.outcome.end);
    EXPECT_EQ(outcome.traffic.packets, of.outcome.traffic.packets);
    EXPECT_EQ(outcome.aftermath->complete, of.graphs.ranks());
    PacketOptions plain = of.options;
    EXPECT_EQ(run(of.machine, of.graphs, of.nodes, plain)->end, of.outcome.end);
  }
}

} // namespace
} // namespace kumihimo::packet::deaths
