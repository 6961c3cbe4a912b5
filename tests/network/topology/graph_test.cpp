#include "networks.hpp"
#include "topology/graph.hpp"

#include <gtest/gtest.h>

#include <queue>
#include <set>

namespace kumihimo {
namespace {

Result<GraphTopology> made(std::int32_t nodes, std::int32_t switches, const std::vector<std::string>& texts) {
  const auto edges = GraphTopology::parse(texts);
  if (!edges) return edges.error();
  return GraphTopology::make(nodes, switches, *edges);
}

// Breadth first over all links, not passing nodes where there are switches.
std::vector<std::int32_t> hops_from(const GraphTopology& graph, std::int32_t from, bool nodes_relay) {
  const std::int32_t vertices = graph.nodes() + graph.switches();
  std::vector<std::int32_t> hops(vertices, -1);
  std::queue<std::int32_t> queue;
  hops[from] = 0;
  for (queue.push(from); !queue.empty(); queue.pop()) {
    const std::int32_t at = queue.front();
    if (at != from && at < graph.nodes() && !nodes_relay) continue;
    for (std::int64_t id = 0; id < graph.link_bound(); ++id)
      if (const auto link = graph.describe(LinkId{id}); link.from.value == at && hops[link.to.value] < 0) {
        hops[link.to.value] = hops[at] + 1;
        queue.push(link.to.value);
      }
  }
  return hops;
}

TEST(GraphTopology, WaysAreShortest) {
  Draw draw(7);
  for (int i = 0; i < 60; ++i) {
    const bool relaying = i % 2 == 0;
    const GraphTopology graph = random_graph(draw, relaying);
    std::int32_t longest = 0;
    for (std::int32_t from = 0; from < graph.nodes(); ++from) {
      const auto hops = hops_from(graph, from, relaying);
      for (std::int32_t to = 0; to < graph.nodes(); ++to) {
        ASSERT_EQ(graph.distance(NodeId{from}, NodeId{to}), hops[to]) << graph.name() << " " << from << " to " << to;
        longest = std::max(longest, hops[to]);
      }
    }
    ASSERT_EQ(graph.diameter(), longest) << graph.name();
  }
}

TEST(GraphTopology, IsReadEdgeByEdge) {
  const GraphTopology graph = *made(6, 3, {"0..2-6", "3..5-7 edge", "6-8 uplink x2", "7-8 uplink x2"});
  EXPECT_EQ(graph.name(), "graph of 6 nodes and 3 switches");
  EXPECT_EQ(graph.links(), 2 * 10);
  EXPECT_EQ(graph.link_classes(), (std::vector<std::string>{"edge", "uplink", "other"}));
  EXPECT_EQ(graph.levels(), (std::vector<Level>{{"switch", 3}}));
  EXPECT_EQ(graph.diameter(), 4);
  EXPECT_EQ(graph.ports(), (std::vector<std::int64_t>{1, 0, 1})) << "of the node with most, by class";
  EXPECT_NE(route_of(graph, 0, 4).at(1), route_of(graph, 0, 5).at(1)) << "cables are dealt by the destination";
  EXPECT_EQ(graph.cuts().front().links, (std::vector<std::int64_t>{0, 0, 3}));
  EXPECT_EQ(graph.part(4)->name(), "graph of 4 nodes and 3 switches");
}

TEST(GraphTopology, NodesMayBeCabledToEachOther) {
  const GraphTopology ring = *made(5, 0, {"0-1", "1-2", "2-3", "3-4", "4-0"});
  EXPECT_EQ(ring.diameter(), 2);
  EXPECT_EQ(ring.levels(), std::vector<Level>{});
  const GraphTopology both = *made(2, 1, {"0-2", "1-2", "0-1"});
  EXPECT_EQ(both.distance(NodeId{0}, NodeId{1}), 1) << "past the switch";
}

TEST(GraphTopology, WhatIsNotConnectedIsOneSentence) {
  const auto sentence = [](const Result<GraphTopology>& graph) { return graph ? "" : graph.error().sentence(); };
  EXPECT_EQ(sentence(made(4, 2, {"0..1-4", "2..3-5"})),
            "a graph must have a path between any two nodes (got none between node 0 and node 2); add the "
            "edges that join them");
  EXPECT_NE(sentence(made(3, 0, {"0-1"})).find("node 0 and node 2"), std::string::npos);
  EXPECT_NE(sentence(made(3, 1, {"0-3", "1-2", "0-1"})).find("node 0 and node 2"), std::string::npos)
      << "nodes relay nothing where there are switches";
  EXPECT_NE(sentence(made(3, 2, {"0-3", "0-4", "1-3", "2-4"})).find("node 1 and node 2"), std::string::npos)
      << "node 0 joins both switches and relays nothing";
  EXPECT_NE(sentence(made(3, 1, {"0-1", "0-2", "0-3"})).find("node 1 and node 2"), std::string::npos);
  EXPECT_TRUE(made(3, 2, {"0-3", "0..2-4"}).ok()) << "a switch that leads nowhere harms nobody";
  EXPECT_TRUE(made(1, 0, {}).ok());
}

// Each level chooses by another part of the destination's number: by the same one all would meet at a diagonal.
TEST(GraphTopology, ATreeOfThreeLevelsUsesAllOfItsTop) {
  // 8 nodes; switches 8 to 11 (leaves), 12 to 15, 16 to 19: two parents each.
  const GraphTopology graph =
      *made(8, 12, {"0..1-8", "2..3-9", "4..5-10", "6..7-11", "8-12",  "8-13",  "9-12",  "9-13",  "10-14", "10-15",
                    "11-14",  "11-15",  "12-16",   "12-17",   "13-18", "13-19", "14-16", "14-17", "15-18", "15-19"});
  std::set<LinkId> used;
  for (std::int32_t to = 4; to < 8; ++to) {
    std::vector<LinkId> route;
    graph.append_route(NodeId{0}, NodeId{to}, route);
    ASSERT_EQ(route.size(), 6u);
    used.insert(route[2]);
  }
  EXPECT_EQ(used.size(), 4u) << "one way up to each of the four at the top";
}

TEST(GraphTopology, WrongEdgesAreOneSentence) {
  for (const char* wrong : {"", "0", "0-", "-1", "a-b", "0-1-2", "3..1-4", "0-1 x0", "0-1 X", "0-1  a", "0-1 a b",
                            "0-1 x2 x3", "0-1 ", "0..99999999-1", "0-1 x99999999"}) {
    const auto graph = made(5, 0, {wrong});
    ASSERT_FALSE(graph.ok()) << wrong;
    EXPECT_NE(graph.error().sentence().find("an edge is VERTEX-VERTEX"), std::string::npos) << graph.error().sentence();
  }
  EXPECT_NE(made(2, 0, {"2147483647-1"}).error().sentence().find("0 to 1 (got 2147483647-1)"), std::string::npos);
  EXPECT_NE(made(2, 0, {"0-2"}).error().sentence().find("0 to 1 (got 0-2)"), std::string::npos);
  EXPECT_FALSE(made(2, 0, {"1-1"}).ok());
  EXPECT_FALSE(made(0, 3, {}).ok());
  EXPECT_NE(made(5000, 0, {}).error().sentence().find("4096"), std::string::npos);
}

} // namespace
} // namespace kumihimo
