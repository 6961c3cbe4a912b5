// Loops expanded to rounds that wait for rounds: in every iteration for just those that in_flight says.
#include "program/builder.hpp"
#include "program/round_graph.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kumihimo {
namespace {

Round one() { return {{copy(out[whole()], in[whole()])}, 0}; }

// Two rounds an iteration, and one round behind the loop.
Lane lane_of(std::int64_t trip, std::int64_t in_flight) {
  LaneBuilder lane(LaneId{0}, "", 1);
  lane.loop(
      trip,
      [](BodyBuilder& body, Variable) {
        body.round(one());
        body.round(one());
      },
      in_flight);
  lane.round(one());
  return lane.take();
}

// By vertex: whether it waits for another one, directly or not. Edges lead forwards.
std::vector<std::vector<bool>> waits_of(const RoundGraph& graph) {
  const std::size_t n = graph.vertices.size();
  std::vector<std::vector<bool>> waits(n, std::vector<bool>(n));
  for (std::size_t to = 0; to < n; ++to)
    for (const RoundGraph::Edge& e : graph.edges) {
      if (static_cast<std::size_t>(e.to) != to) continue;
      const auto from = static_cast<std::size_t>(e.from);
      EXPECT_LT(from, to);
      waits[to][from] = true;
      for (std::size_t v = 0; v < n; ++v)
        if (waits[from][v]) waits[to][v] = true;
    }
  return waits;
}

TEST(RoundGraph, IterationsWaitForAllUpToThoseInFlight) {
  for (const std::int64_t trip : {0, 1, 2, 7})
    for (const std::int64_t in_flight : {1, 2, 3, 9}) {
      const Lane lane = lane_of(trip, in_flight);
      const auto graph = round_graph(lane, 100);
      ASSERT_TRUE(graph.has_value());
      EXPECT_EQ(graph->is_chain, in_flight == 1 || trip <= 1);
      const auto waits = waits_of(*graph);
      std::vector<std::size_t> rounds; // without the joins
      for (std::size_t v = 0; v < graph->vertices.size(); ++v)
        if (graph->vertices[v].round) rounds.push_back(v);
      ASSERT_EQ(rounds.size(), static_cast<std::size_t>(2 * trip + 1));
      for (std::size_t b = 0; b < rounds.size(); ++b)
        for (std::size_t a = 0; a < b; ++a) {
          const auto i = static_cast<std::int64_t>(a / 2), j = static_cast<std::int64_t>(b / 2);
          const bool expected = j == trip || i == j || i <= j - in_flight;
          EXPECT_EQ(waits[rounds[b]][rounds[a]], expected) << trip << " " << in_flight << ": " << b << " for " << a;
        }
      for (std::size_t b = 0; b + 1 < rounds.size(); ++b)
        EXPECT_EQ(graph->vertices[rounds[b]].values[1], static_cast<std::int64_t>(b / 2));
    }
}

// Two loops, each with its own number in flight, and a round behind both.
TEST(RoundGraph, LoopsThatStartTogetherWaitForTheirOwnIterationsAlone) {
  LaneBuilder written(LaneId{0}, "", 1);
  written.together([](BodyBuilder& both) {
    both.loop(
        4, [](Variable) { return one(); }, 1);
    both.loop(
        5, [](Variable) { return one(); }, 3);
  });
  written.round(one());
  const Lane lane = written.take();
  const auto graph = round_graph(lane, 100);
  ASSERT_TRUE(graph.has_value());
  EXPECT_FALSE(graph->is_chain);
  const auto waits = waits_of(*graph);
  std::vector<std::size_t> rounds;
  for (std::size_t v = 0; v < graph->vertices.size(); ++v)
    if (graph->vertices[v].round) rounds.push_back(v);
  ASSERT_EQ(rounds.size(), 10u);
  for (std::size_t b = 0; b < rounds.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      const bool same = (a < 4) == (b < 4);
      const bool expected = b == 9 || (same && (b < 4 || b - a >= 3));
      EXPECT_EQ(waits[rounds[b]][rounds[a]], expected) << b << " for " << a;
    }
  EXPECT_EQ(graph->vertices[rounds[3]].values[2], 3) << "the loops are one level deeper";
}

TEST(RoundGraph, OfMoreVerticesThanAskedForThereIsNone) {
  const Lane lane = lane_of(7, 1);
  EXPECT_TRUE(round_graph(lane, 15).has_value());
  EXPECT_FALSE(round_graph(lane, 14).has_value());
}

} // namespace
} // namespace kumihimo
