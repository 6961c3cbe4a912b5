// Windows of sends and receives: how many of each are under way, and what waits for what.
#include "collectives/named_neighbours.hpp"
#include "collectives/registry.hpp"
#include "program/round_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace kumihimo {
namespace {

Schedule exchange(std::int32_t ranks, const Parameters& p, std::string_view name = "linear") {
  const Variant& v = **Registry::standard().find(CollectiveKind::alltoall, name);
  Result<Schedule> s = v.build(make_collective(CollectiveKind::alltoall, ranks, 3), RankSpace::row(ranks), p);
  EXPECT_TRUE(s.ok()) << (s ? "" : s.error().sentence());
  return std::move(*s);
}

bool has(const Round* round, bool (Step::*kind)() const) {
  return round && std::ranges::any_of(round->steps, [&](const Step& step) { return (step.*kind)(); });
}

// By vertex: whether it waits for another one, directly or not. Edges lead forwards.
std::vector<std::vector<bool>> waits_of(const RoundGraph& graph) {
  const std::size_t n = graph.vertices.size();
  std::vector<std::vector<bool>> waits(n, std::vector<bool>(n));
  for (std::size_t to = 0; to < n; ++to)
    for (const RoundGraph::Edge& e : graph.edges) {
      if (static_cast<std::size_t>(e.to) != to) continue;
      const auto from = static_cast<std::size_t>(e.from);
      waits[to][from] = true;
      for (std::size_t v = 0; v < n; ++v)
        if (waits[from][v]) waits[to][v] = true;
    }
  return waits;
}

// The most rounds of a kind of which none waits for another: of chains of windows, neighbours.
std::int64_t most_under_way(const RoundGraph& graph, bool (Step::*kind)() const) {
  const auto waits = waits_of(graph);
  std::vector<std::size_t> rounds;
  for (std::size_t v = 0; v < graph.vertices.size(); ++v)
    if (has(graph.vertices[v].round, kind)) rounds.push_back(v);
  std::size_t most = 0;
  for (std::size_t first = 0; first < rounds.size(); ++first) {
    std::size_t last = first;
    while (last < rounds.size() && !waits[rounds[last]][rounds[first]]) ++last;
    most = std::max(most, last - first);
  }
  return static_cast<std::int64_t>(most);
}

TEST(ExchangeWindows, LimitSendsAndReceivesApart) {
  for (const std::int64_t sends : {1, 2, 5, 100})
    for (const std::int64_t receives : {1, 3, 100}) {
      Parameters p;
      p.send_window = sends, p.receive_window = receives;
      const Program program = exchange(9, p).program(Rank{4});
      const auto graph = *round_graph(program.lanes[0], 1000);
      EXPECT_EQ(most_under_way(graph, &Step::sends), std::min<std::int64_t>(sends, 8));
      EXPECT_EQ(most_under_way(graph, &Step::receives), std::min<std::int64_t>(receives, 8));
      if (std::min(sends, receives) >= 8) continue; // all at once: whole rounds
      const auto waits = waits_of(graph);
      for (std::size_t a = 0; a < waits.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
          const Round *later = graph.vertices[a].round, *earlier = graph.vertices[b].round;
          const bool apart = (has(later, &Step::sends) && has(earlier, &Step::receives)) ||
                             (has(later, &Step::receives) && has(earlier, &Step::sends));
          EXPECT_FALSE(apart && waits[a][b]) << sends << " " << receives << ": " << b << " for " << a;
        }
    }
}

TEST(ExchangeWindows, OneThatIsLeftOutIsThatOfTheThrottle) {
  Parameters one, both;
  one.throttle = 3, one.receive_window = 1;
  both.send_window = 3, both.receive_window = 1;
  EXPECT_EQ(exchange(7, one).program(Rank{0}), exchange(7, both).program(Rank{0}));
  EXPECT_EQ(exchange(7, one).parameters, "send_window=3 receive_window=1");
  Parameters receives;
  receives.receive_window = 2;
  EXPECT_EQ(exchange(7, receives).parameters, "send_window=6 receive_window=2");
  Parameters all;
  all.send_window = all.receive_window = 6;
  EXPECT_EQ(exchange(7, all).program(Rank{0}), exchange(7, {}).program(Rank{0}));
}

TEST(ExchangeWindows, AreThoseOfEachPhaseToo) {
  Parameters p;
  p.send_window = 1, p.receive_window = 2;
  for (const char* name : {"two_phase", "three_phase"}) {
    const Schedule s = exchange(27 * 8, p, name);
    EXPECT_NE(s.parameters.find("send_window=1 receive_window=2"), std::string::npos) << s.parameters;
    for (const Lane& lane : s.program(Rank{5}).lanes) {
      const auto graph = *round_graph(lane, 1000);
      EXPECT_LE(most_under_way(graph, &Step::sends), 1);
      EXPECT_LE(most_under_way(graph, &Step::receives), 2);
    }
  }
}

TEST(ExchangeWindows, PairwiseTakesNone) {
  Parameters p;
  p.send_window = 2;
  const Variant& v = **Registry::standard().find(CollectiveKind::alltoall, "pairwise");
  EXPECT_FALSE(v.build(make_collective(CollectiveKind::alltoall, 4, 3), RankSpace::row(4), p).ok());
}

TEST(ExchangeWindows, AThrottleBesideBothIsRefused) {
  Parameters p;
  p.throttle = p.send_window = p.receive_window = 2;
  const Variant& v = **Registry::standard().find(CollectiveKind::alltoall, "linear");
  const Result<Schedule> s = v.build(make_collective(CollectiveKind::alltoall, 4, 3), RankSpace::row(4), p);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().sentence(),
            "throttle has no effect beside send_window and receive_window; leave one of them out");
}

// Shifts of axes take the place of distances: on a mesh, ranks at its ends have fewer of them.
TEST(ExchangeWindows, LimitShiftsOfNeighboursToo) {
  for (const CollectiveKind kind : {CollectiveKind::neighbor_alltoall, CollectiveKind::neighbor_allgather}) {
    Collective c = make_collective(kind, 12, 3);
    c.neighbours = *named_neighbours("cart:3x4m", 12);
    const Variant& direct = **Registry::standard().find(kind, "direct");
    for (const std::int64_t sends : {1, 2, 3, 100})
      for (const std::int64_t receives : {1, 3, 100}) {
        Parameters p;
        p.send_window = sends, p.receive_window = receives;
        const Schedule s = *direct.build(c, RankSpace::row(12), p);
        for (std::int32_t rank = 0; rank < 12; ++rank) {
          const Program program = s.program(Rank{rank});
          const auto graph = *round_graph(program.lanes[0], 1000);
          std::int64_t messages = 0;
          for (const RoundGraph::Vertex& vertex : graph.vertices) {
            if (!vertex.round) continue;
            const auto count = [&](bool (Step::*is)() const) {
              return std::ranges::count_if(vertex.round->steps, [&](const Step& step) { return (step.*is)(); });
            };
            EXPECT_LE(count(&Step::sends), sends);
            EXPECT_LE(count(&Step::receives), receives);
            EXPECT_TRUE(std::min(sends, receives) >= 4 || count(&Step::sends) * count(&Step::receives) == 0);
            messages += count(&Step::sends) + count(&Step::receives);
          }
          EXPECT_EQ(messages, rank % 4 == 0 || rank % 4 == 3 ? 6 : 8);
        }
      }
  }
}

} // namespace
} // namespace kumihimo
