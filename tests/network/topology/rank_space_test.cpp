#include "topology/rank_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace kumihimo {
namespace {

std::vector<NodeId> nodes(std::initializer_list<std::int32_t> ids) {
  std::vector<NodeId> v;
  for (std::int32_t id : ids) v.emplace_back(id);
  return v;
}
RankSpace recognise(std::string_view machine, std::initializer_list<std::int32_t> ids) {
  return RankSpace::recognise(*Shape::parse(machine), nodes(ids));
}

// place and rank_at are each other's inverse over all ranks.
void expect_bijection(const RankSpace& space) {
  std::vector<bool> taken(space.ranks());
  for (std::int32_t r = 0; r < space.ranks(); ++r) {
    const std::int32_t place = space.place(Rank{r});
    ASSERT_TRUE(place >= 0 && place < space.ranks() && !taken[place]);
    taken[place] = true;
    ASSERT_EQ(space.rank_at(place), Rank{r});
  }
}

TEST(RankSpace, ARowHasNoShape) {
  const RankSpace row = RankSpace::row(7);
  EXPECT_EQ(row.ranks(), 7);
  EXPECT_FALSE(row.has_shape());
  EXPECT_EQ(row.shape().text(), "7m");
  EXPECT_EQ(row.name(), "row of 7 ranks");
  EXPECT_EQ(RankSpace::row(1).name(), "row of 1 rank");
  expect_bijection(row);
}

TEST(RankSpace, ANodeIsARingOfNeighbours) {
  const RankSpace node = RankSpace::node(4);
  EXPECT_TRUE(node.has_shape());
  EXPECT_EQ(node.ranks_per_node(), 4);
  EXPECT_EQ(node.shape().text(), "4");
  EXPECT_EQ(node.name(), "node of 4 ranks");
  EXPECT_EQ(RankSpace::node(1).name(), "node of 1 rank");
}

TEST(RankSpace, ABoxAddsItsRanksPerNodeAsLastAxis) {
  EXPECT_EQ(RankSpace::box(*Shape::parse("48x6x32")).name(), "torus 48x6x32");
  EXPECT_EQ(RankSpace::box(*Shape::parse("48x6x32")).ranks(), 9216);
  const RankSpace two = RankSpace::box(*Shape::parse("4x3m"), 2);
  EXPECT_EQ(two.shape().text(), "4x3mx2");
  EXPECT_EQ(two.ranks(), 24);
  EXPECT_EQ(two.name(), "torus 4x3m, 2 ranks a node");
}

TEST(RankSpace, AFullMachineIsItsTorus) {
  const Shape machine = *Shape::parse("4x3mx2");
  std::vector<NodeId> all;
  for (std::int32_t n = 0; n < machine.places(); ++n) all.emplace_back(n);
  const RankSpace space = RankSpace::recognise(machine, all);
  EXPECT_TRUE(space.has_shape());
  EXPECT_TRUE(space.row_major());
  EXPECT_EQ(space.shape(), machine);
}

TEST(RankSpace, APartIsAMeshOnItsPartialAxes) {
  const RankSpace plane = recognise("4x4", {0, 1, 4, 5, 8, 9, 12, 13});
  EXPECT_EQ(plane.shape().text(), "4x2m") << "whole along the first axis, half of the second";
  EXPECT_TRUE(plane.row_major());
  EXPECT_EQ(recognise("4x4", {4, 5, 6, 7}).shape().text(), "1mx4");
  EXPECT_EQ(recognise("4x4", {5, 6, 9, 10}).shape().text(), "2mx2m");
}

TEST(RankSpace, ARunMayCrossTheEndOfARing) {
  const RankSpace run = recognise("8", {6, 7, 0, 1});
  EXPECT_EQ(run.shape().text(), "4m");
  EXPECT_TRUE(run.row_major()) << "6 is the first place";
  EXPECT_EQ(recognise("8", {0, 1, 6, 7}).place(Rank{0}), 2);
  EXPECT_FALSE(recognise("8m", {6, 7, 0, 1}).has_shape()) << "a mesh has no way round";
  EXPECT_EQ(recognise("8", {1, 2, 3, 4, 5, 6, 7}).shape().text(), "7m");
}

TEST(RankSpace, OrderOfRanksIsKept) {
  const RankSpace reversed = recognise("4", {3, 2, 1, 0});
  EXPECT_EQ(reversed.shape().text(), "4");
  EXPECT_FALSE(reversed.row_major());
  EXPECT_EQ(reversed.place(Rank{0}), 3);
  EXPECT_EQ(reversed.rank_at(3), Rank{0});
  expect_bijection(reversed);
}

TEST(RankSpace, ScatteredNodesAreARow) {
  for (const RankSpace& space : {recognise("8", {0, 2, 4, 6}), recognise("4x4", {0, 5}), recognise("4x4", {0, 1, 4}),
                                 recognise("4x4", {0, 1, 2, 4, 5, 6, 8, 9}), recognise("8", {0, 1, 3})}) {
    EXPECT_FALSE(space.has_shape());
    EXPECT_EQ(space.ranks_per_node(), 1);
    expect_bijection(space);
  }
}

TEST(RankSpace, SeveralRanksANode) {
  const RankSpace block = recognise("3", {0, 0, 1, 1, 2, 2});
  EXPECT_EQ(block.shape().text(), "3x2");
  EXPECT_EQ(block.ranks_per_node(), 2);
  EXPECT_TRUE(block.row_major());
  const RankSpace robin = recognise("3", {0, 1, 2, 0, 1, 2});
  EXPECT_EQ(robin.shape().text(), "3x2");
  EXPECT_EQ(robin.place(Rank{3}), 1) << "the second rank of node 0";
  expect_bijection(robin);
  const RankSpace scattered = recognise("8", {0, 0, 3, 3});
  EXPECT_FALSE(scattered.has_shape());
  EXPECT_EQ(scattered.ranks_per_node(), 2);
  EXPECT_EQ(recognise("8", {5, 5, 5}).name(), "node of 3 ranks");
}

TEST(RankSpace, UnequalNodesAreARowWithTheirSizes) {
  const RankSpace space = recognise("4", {0, 0, 1, 2, 2, 2});
  EXPECT_FALSE(space.has_shape());
  EXPECT_EQ(space.ranks_per_node(), 0);
  EXPECT_EQ(space.node_sizes(), (std::vector<std::int32_t>{2, 1, 3}));
  EXPECT_EQ(space.name(), "row of 6 ranks, 1 to 3 a node");
  const std::vector<std::int32_t> sizes{2, 1, 3}, equal{2, 2, 2}, one{4};
  EXPECT_EQ(RankSpace::of_nodes(sizes).node_sizes(), sizes);
  EXPECT_EQ(RankSpace::of_nodes(sizes).nodes(), space.nodes());
  EXPECT_EQ(RankSpace::of_nodes(equal).name(), "mesh 3m, 2 ranks a node");
  EXPECT_EQ(RankSpace::of_nodes(one).name(), "node of 4 ranks");
}

TEST(RankSpace, OnNodesOfWhichOnlyTheNamesAreKnown) {
  const auto on = [](std::vector<std::int64_t> nodes) { return RankSpace::on_nodes(nodes); };
  EXPECT_EQ(on({-9, -9, -9}).name(), "node of 3 ranks");
  EXPECT_EQ(on({7, 7, -9, -9}).name(), "mesh 2m, 2 ranks a node") << "in the order of their first ranks";
  EXPECT_EQ(on({7, 7, -9, -9}).levels().size(), 1u);
  EXPECT_TRUE(on({7, 7, -9, -9}).row_major());
  const RankSpace dealt = on({7, -9, 7, -9});
  EXPECT_EQ(dealt.name(), "mesh 2m, 2 ranks a node");
  EXPECT_EQ(dealt.nodes(), (std::vector<std::vector<Rank>>{{Rank{0}, Rank{2}}, {Rank{1}, Rank{3}}}));
  expect_bijection(dealt);
  EXPECT_EQ(on({5, 3, 3, 3}).node_sizes(), (std::vector<std::int32_t>{1, 3}));
}

TEST(RankSpace, OneRankOrOneNode) {
  EXPECT_EQ(recognise("4x4", {9}).name(), "node of 1 rank");
  EXPECT_EQ(RankSpace::recognise(Shape(), nodes({0, 0})).name(), "node of 2 ranks") << "a single node has no axes";
}

// A random box somewhere on a random machine, in random order: it is found again, and ranks that are neighbours in its
// shape are on one node or one hop apart.
TEST(RankSpace, NeighboursInTheShapeAreNeighboursInTheMachine) {
  std::mt19937 random(8);
  const auto below = [&](std::int32_t n) { return static_cast<std::int32_t>(random() % n); };
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<Axis> machine_axes, box_axes;
    Coordinates first;
    for (int d = 1 + below(4); d > 0; --d) {
      const Axis axis{1 + below(5), below(2) == 0};
      const std::int32_t length = 1 + below(axis.length);
      machine_axes.push_back(axis);
      box_axes.push_back(Axis{length, axis.wraps && length == axis.length});
      first.push_back(below(axis.wraps ? axis.length : axis.length - length + 1));
    }
    const Shape machine(machine_axes), box(box_axes);
    const std::int32_t each = 1 + below(3);
    std::vector<NodeId> node_of_rank;
    for (std::int32_t place = 0; place < box.places(); ++place) {
      Coordinates c = box.coordinates(place);
      for (std::size_t a = 0; a < c.size(); ++a) c[a] = (c[a] + first[a]) % machine_axes[a].length;
      node_of_rank.insert(node_of_rank.end(), each, NodeId{machine.place(c)});
    }
    std::shuffle(node_of_rank.begin(), node_of_rank.end(), random);

    const RankSpace space = RankSpace::recognise(machine, node_of_rank);
    ASSERT_EQ(space.ranks(), box.places() * each);
    ASSERT_TRUE(space.has_shape());
    ASSERT_EQ(space.ranks_per_node(), box.places() == 1 ? space.ranks() : each);
    expect_bijection(space);
    if (box.places() == 1) continue;
    ASSERT_EQ(space.shape(), RankSpace::box(box, each).shape()) << machine.text();
    const Torus network(machine), ranks(space.shape());
    for (std::int64_t id = 0; id < ranks.link_bound(); ++id) {
      if (!ranks.is_link(LinkId{id})) continue;
      const auto link = ranks.describe(LinkId{id});
      const NodeId from = node_of_rank[space.rank_at(link.from.value).value];
      const NodeId to = node_of_rank[space.rank_at(link.to.value).value];
      const bool within_node = each > 1 && id / 2 % ranks.shape().dimensions() == ranks.shape().dimensions() - 1;
      ASSERT_EQ(network.distance(from, to), within_node ? 0 : 1) << machine.text() << " " << box.text();
    }
  }
}

// A set of nodes gets a shape only where it is a box: random sets against all boxes of a small machine.
TEST(RankSpace, OnlyBoxesHaveShapes) {
  for (const char* text : {"3x4", "3mx4", "3x4m", "3mx4m", "2x6"}) {
    const Shape machine = *Shape::parse(text);
    std::vector<std::uint32_t> boxes;
    for (std::int32_t first = 0; first < machine.places(); ++first)
      for (std::int32_t rows = 1; rows <= machine.length(0); ++rows)
        for (std::int32_t columns = 1; columns <= machine.length(1); ++columns) {
          const auto fits = [&](int axis, std::int32_t length) {
            return machine.axes()[axis].wraps || machine.coordinate(first, axis) + length <= machine.length(axis);
          };
          if (!fits(0, rows) || !fits(1, columns)) continue;
          std::uint32_t box = 0;
          for (std::int32_t i = 0; i < rows; ++i)
            for (std::int32_t j = 0; j < columns; ++j) box |= 1u << machine.shifted(machine.shifted(first, 0, i), 1, j);
          boxes.push_back(box);
        }
    std::sort(boxes.begin(), boxes.end());
    for (std::uint32_t set = 1; set < 1u << machine.places(); ++set) {
      std::vector<NodeId> used;
      for (std::int32_t n = 0; n < machine.places(); ++n)
        if (set >> n & 1) used.emplace_back(n);
      ASSERT_EQ(RankSpace::recognise(machine, used).has_shape(), std::binary_search(boxes.begin(), boxes.end(), set))
          << text << " nodes " << set;
    }
  }
}

TEST(RankSpace, RecognisesTheFullMachine) {
  const Shape k = *Shape::parse("48x54x32");
  std::vector<NodeId> all(k.places());
  for (std::int32_t n = 0; n < k.places(); ++n) all[n] = NodeId{k.places() - 1 - n};
  const RankSpace space = RankSpace::recognise(k, all);
  EXPECT_EQ(space.name(), "torus 48x54x32");
  EXPECT_EQ(space.place(Rank{0}), 82943);
}

TEST(RankSpace, HasLevelsWhereThereAreNoAxes) {
  const RankSpace s = RankSpace::on_switches(10, 3, {{"group", 10}, {"switch", 4}, {"slot", 1}});
  EXPECT_EQ(s.ranks(), 30);
  EXPECT_FALSE(s.has_shape());
  EXPECT_EQ(s.levels(), (std::vector<Level>{{"switch", 12}, {"node", 3}})) << "none of all nodes, none of one";
  EXPECT_EQ(s.name(), "row of 30 ranks, 12 a switch, 3 a node");
  EXPECT_EQ(RankSpace::on_switches(1, 4, {}).levels(), std::vector<Level>{});
  EXPECT_EQ(RankSpace::box(*Shape::parse("4x3"), 2).levels(), (std::vector<Level>{{"node", 2}}));
  EXPECT_EQ(RankSpace::box(*Shape::parse("4x3")).levels(), std::vector<Level>{});
  EXPECT_EQ(RankSpace::node(8, {{"package", 8}, {"numa", 4}, {"core", 1}}).levels(), (std::vector<Level>{{"numa", 4}}));
}

// Ranks of nodes and the space between nodes, however the ranks were placed.
TEST(RankSpaceNodes, HoldTheirRanksAndLeaveASpaceBetweenThem) {
  using Ranks = std::vector<Rank>;
  const RankSpace box = RankSpace::box(*Shape::parse("3x2"), 2);
  EXPECT_EQ(box.nodes().size(), 6u);
  EXPECT_EQ(box.nodes()[1], (Ranks{Rank{2}, Rank{3}}));
  EXPECT_EQ(box.between_nodes().name(), "torus 3x2");
  EXPECT_EQ(RankSpace::node(4).nodes().size(), 1u);
  EXPECT_EQ(RankSpace::node(4).between_nodes().ranks(), 1);
  EXPECT_EQ(RankSpace::row(4).nodes().size(), 4u);
  EXPECT_EQ(RankSpace::row(4).between_nodes().ranks(), 4);
  const RankSpace switches = RankSpace::on_switches(6, 2, {{"switch", 3}});
  EXPECT_EQ(switches.nodes()[5], (Ranks{Rank{10}, Rank{11}}));
  EXPECT_EQ(switches.between_nodes().name(), "row of 6 ranks, 3 a switch");

  const std::vector<NodeId> unequal = {NodeId{2}, NodeId{0}, NodeId{2}, NodeId{1}, NodeId{2}};
  const RankSpace mixed = RankSpace::recognise(*Shape::parse("3"), unequal);
  EXPECT_EQ(mixed.nodes(), (std::vector<Ranks>{{Rank{1}}, {Rank{3}}, {Rank{0}, Rank{2}, Rank{4}}}));
  EXPECT_EQ(mixed.between_nodes().ranks(), 3);

  const std::vector<NodeId> turned = {NodeId{1}, NodeId{0}, NodeId{1}, NodeId{0}};
  const RankSpace in_turn = RankSpace::recognise(*Shape::parse("2"), turned);
  EXPECT_EQ(in_turn.nodes(), (std::vector<Ranks>{{Rank{1}, Rank{3}}, {Rank{0}, Rank{2}}}));
  EXPECT_EQ(in_turn.between_nodes().ranks(), 2);
}

} // namespace
} // namespace kumihimo
