// Networks by their routes: what a text says is what a message crosses.
#include "networks.hpp"
#include "topology/route_table.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

using Texts = std::vector<std::string>;

RouteTable made(std::int32_t nodes, const Texts& links, const Texts& routes) {
  const auto table = RouteTable::make(nodes, links, routes);
  EXPECT_TRUE(table.ok()) << (table ? "" : table.error().sentence());
  return *table;
}

std::vector<std::int64_t> crossed(const Topology& network, std::int32_t from, std::int32_t to) {
  std::vector<std::int64_t> links;
  for (const LinkId link : route_of(network, from, to)) links.push_back(link.value);
  return links;
}

// Two clusters of four nodes, with a cable up and one down each, a backbone, and a fat pipe between them.
RouteTable clusters() {
  return made(8, {"up x8", "down x8", "backbone x2", "pipe fat"},
              {"0..3-0..3: 0+a 16 8+b", "4..7-4..7: 4+a 17 12+b", "0..3-4..7: 0+a 16 18 17 12+b",
               "4..7-0..3: 4+a 17 18 16 8+b"});
}

TEST(RouteTable, RangesMoveWithSenderAndReceiver) {
  const RouteTable t = clusters();
  EXPECT_EQ(crossed(t, 0, 3), (std::vector<std::int64_t>{0, 16, 11}));
  EXPECT_EQ(crossed(t, 6, 5), (std::vector<std::int64_t>{6, 17, 13}));
  EXPECT_EQ(crossed(t, 2, 7), (std::vector<std::int64_t>{2, 16, 18, 17, 15}));
  EXPECT_TRUE(crossed(t, 5, 5).empty());
  EXPECT_EQ(t.distance(NodeId{1}, NodeId{6}), 5);
  EXPECT_EQ(t.diameter(), 5);
  EXPECT_EQ(t.links(), 19);
  EXPECT_EQ(t.link_classes(), (Texts{"up", "down", "backbone", "pipe"}));
  EXPECT_EQ(t.link_class(LinkId{16}), 2);
  EXPECT_TRUE(t.is_shared(LinkId{17}));
  EXPECT_FALSE(t.is_shared(LinkId{18}));
  EXPECT_EQ(t.describe(LinkId{17}).name, "17 (backbone)");
  EXPECT_EQ(t.name(), "routes of 8 nodes over 19 links");
}

TEST(RouteTable, LevelsAreNodesWithShorterRoutes) {
  EXPECT_EQ(clusters().levels(), (std::vector<Level>{{"group", 4}}));
  EXPECT_TRUE(clusters().part(4)->levels().empty());
  const RouteTable uneven = made(3, {"a x3"}, {"0-1: 0", "1-0: 0", "0..1-2: 1 2", "2-0..1: 2 1"});
  EXPECT_EQ(uneven.levels(), (std::vector<Level>{{"group", 2}}));
  EXPECT_TRUE(made(3, {"a x3"}, {"0-1: 0 1", "1-0: 0 1", "0..1-2: 1", "2-0..1: 1"}).levels().empty());
}

// One way out of a node, and between the halves one of each cluster's backbones; a fat pipe bounds nothing.
TEST(RouteTable, CutsAreLinksThatAllCross) {
  const RouteTable t = clusters();
  EXPECT_EQ(t.ports(), (std::vector<std::int64_t>{1, 1, 0, 0}));
  EXPECT_EQ(t.bisection_links(), 1);
  for (const Topology::Cut& cut : t.cuts()) EXPECT_EQ(cut.links.back(), 0);
  const RouteTable fat = made(2, {"a fat"}, {"0-1: 0", "1-0: 0"});
  EXPECT_TRUE(fat.ports().empty());
  EXPECT_TRUE(fat.cuts().empty());
}

// Of as many as there may be: a pass over all of them for each node would take as long as all other tests together.
TEST(RouteTable, LinksThatNoRouteCrossesAreNoWayOut) {
  const RouteTable t = made(2048, {"up x2048", "down x2048", "spare x16773120"}, {"0..2047-0..2047: 0+a 2048+b"});
  EXPECT_EQ(t.part(2048)->ports(), (std::vector<std::int64_t>{1, 1, 0}));
}

TEST(RouteTable, AJobIsOnTheFirstNodes) {
  const auto part = clusters().part(6);
  EXPECT_EQ(part->nodes(), 6);
  EXPECT_EQ(crossed(*part, 5, 0), crossed(clusters(), 5, 0));
  EXPECT_EQ(clusters().part(1)->diameter(), 0);
}

TEST(RouteTable, WrongTextsAreOneSentence) {
  const auto refused = [](std::int32_t nodes, const Texts& links, const Texts& routes) {
    const auto table = RouteTable::make(nodes, links, routes);
    EXPECT_FALSE(table.ok());
    return table ? std::string() : table.error().sentence();
  };
  const auto has = [](const std::string& sentence, const char* words) {
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
  };
  for (const char* wrong : {"", "Host", "a fat fat", "a x0", "a x", "a x2 fat", "a y2", "a x99999999"})
    has(refused(2, {wrong}, {"0..1-0..1: 0"}), "links are CLASS");
  for (const char* wrong : {"", "0-1", "0-1:", "0-1: ", "0-1: 2", "0-1:0", "0-2: 0", "1..0-1: 0", "0-1: 0+c",
                            "0..1-0..1: 1+a", "0..1-0..1: 1+b", "0-1: 0 ", "0-1: -1"})
    has(refused(2, {"a x2"}, {wrong}), "of nodes 0 to 1 and links 0 to 1");
  has(refused(2, {"a"}, {"0-1: 0"}), "the route from node 1 to node 0 is missing");
  has(refused(2, {"a"}, {"0..1-0..1: 0", "0-1: 0"}), "two from node 0 to node 1");
  has(refused(3000, {"a"}, {"0..2999-0..2999: 0"}), "1 to 2048 nodes");
}

} // namespace
} // namespace kumihimo
