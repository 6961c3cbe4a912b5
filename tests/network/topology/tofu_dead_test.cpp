// Dead nodes and cables: the torus that is left, its ways, and what cannot be kept.
#include "tofu_shapes.hpp"
#include "topology/tofu_connectivity.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kumihimo {
namespace {

bool everyone(const TofuPlace&) { return true; }

// Every route of the job ends where it should and touches nothing dead; neighbours not across a gap are one hop apart.
void expect_alive(const VirtualTorus& torus) {
  const Tofu& tofu = torus.tofu();
  std::vector<LinkId> route;
  for (std::int32_t from = 0; from < torus.nodes(); ++from)
    for (std::int32_t to = 0; to < torus.nodes(); ++to) {
      route.clear();
      torus.append_route(NodeId{from}, NodeId{to}, route);
      ASSERT_EQ(static_cast<std::int32_t>(route.size()), torus.distance(NodeId{from}, NodeId{to}));
      NodeId at = tofu.node(torus.place(NodeId{from}));
      ASSERT_TRUE(tofu.alive(at));
      for (const LinkId link : route) {
        ASSERT_TRUE(tofu.is_link(link)) << tofu.describe(link).name;
        ASSERT_EQ(tofu.describe(link).from, at);
        at = tofu.describe(link).to;
        ASSERT_TRUE(tofu.alive(at));
      }
      ASSERT_EQ(at, tofu.node(torus.place(NodeId{to})));
    }
}

TEST(DeadNode, EveryOneOfABoxInItsTurn) {
  const VirtualTorus whole = *lay_job(fugaku_machine(), box("3x2x2x2x3x2@5,1,23"), std::nullopt);
  ASSERT_EQ(whole.shape().text(), "6x6x4");
  for (std::int32_t dead = 0; dead < whole.tofu().nodes(); dead += 5) {
    const auto torus = whole.without(std::vector{NodeId{dead}}, {});
    ASSERT_TRUE(torus.ok()) << torus.error().sentence();
    EXPECT_EQ(torus->shape().text(), "5x6x4");
    ASSERT_EQ(torus->gaps().size(), 1U);
    expect_alive(*torus);
    // Across the gap 24 pairs, both ways; all others are one hop apart.
    const auto far = torus->far_neighbours();
    EXPECT_EQ(far.pairs, 2 * 6 * 4);
    EXPECT_GE(far.fewest_hops, 2);
    EXPECT_LE(far.most_hops, 4);
  }
}

TEST(DeadNode, InToriOfOneAndTwoDimensionsToo) {
  std::mt19937 random(7);
  for (const char* text : {"12x8", "48", "10x6", "9", "4x7", "6x5mx4"}) {
    const VirtualTorus whole = *lay_job(k_machine(), shape(text));
    for (int i = 0; i < 6; ++i) {
      const NodeId dead = whole.tofu().node(whole.place(NodeId{static_cast<std::int32_t>(random() % whole.nodes())}));
      const auto torus = whole.without(std::vector{dead}, {});
      ASSERT_TRUE(torus.ok()) << text << ": " << torus.error().sentence();
      const std::int32_t longest = whole.shape().length(torus->gaps()[0].axis);
      EXPECT_EQ(torus->nodes(), whole.nodes() / longest * (longest - 1)) << text;
      EXPECT_LE(torus->far_neighbours().pairs, 2 * whole.nodes() / longest) << text;
      expect_alive(*torus);
    }
  }
}

// As published for K: the 48x6x32 of a job becomes 47x6x32.
TEST(DeadNode, ShortensTheJobOfThePaper) {
  const VirtualTorus whole = *lay_job(k_machine(), shape("48x6x32"));
  const NodeId dead = whole.tofu().node({5, 0, 3, 0, 0, 0});
  const VirtualTorus torus = *whole.without(std::vector{dead}, {});
  EXPECT_EQ(torus.shape().text(), "47x6x32");
  EXPECT_EQ(torus.gaps()[0].position, 5);
  const auto far = torus.far_neighbours();
  EXPECT_EQ(far.pairs, 2 * 6 * 32);
  EXPECT_EQ(far.fewest_hops, 2) << "through the live nodes of the gap";
  EXPECT_EQ(far.most_hops, 4) << "around the dead one";
  for (std::int32_t node = 0; node < torus.nodes(); node += 7)
    EXPECT_EQ(torus.node_at(torus.place(NodeId{node})), NodeId{node});
  EXPECT_FALSE(torus.node_at({5, 1, 4, 0, 0, 0})) << "the whole position is left out";
}

TEST(DeadNode, AJobAvoidsItWhereItCan) {
  TofuMachine k = k_machine();
  k.network = k.network.without(std::vector{k.network.node({0, 0, 1, 0, 0, 0})}, {});
  const VirtualTorus avoids = *lay_job(k, shape("48x6x32"));
  EXPECT_EQ(avoids.shape().text(), "48x6x32");
  EXPECT_EQ(avoids.tofu().place_in_machine(avoids.place(NodeId{0}))[Tofu::y], 1);
  EXPECT_EQ(lay_job(k, shape("48x54x32"))->shape().text(), "48x53x32") << "the longest axis loses least";
  EXPECT_EQ(lay_job(k, box("24x2x16x2x3x2@0,0,1"), std::nullopt)->shape().text(), "47x6x32");
}

TEST(DeadNode, ARelayIsNoNodeOfTheJob) {
  const VirtualTorus whole = *lay_job(k_machine(), shape("4x3x32"));
  const VirtualTorus torus = *whole.without(std::vector{whole.tofu().node({0, 0, 0, 0, 0, 0})}, {});
  EXPECT_EQ(torus.shape(), whole.shape());
  EXPECT_EQ(torus.far_neighbours().pairs, 0);
  expect_alive(torus);
}

TEST(DeadNode, SeveralAndCables) {
  std::mt19937 random(5);
  int kept = 0, cut = 0;
  for (int i = 0; i < 40; ++i) {
    const VirtualTorus whole = *lay_job(fugaku_machine(), box("2x2x2x2x3x2"), std::nullopt);
    const auto any = [&](std::int64_t below) { return static_cast<std::int64_t>(random() % below); };
    std::vector<NodeId> nodes;
    std::vector<LinkId> links;
    for (int n = static_cast<int>(random() % 3); n > 0; --n)
      nodes.push_back(NodeId{static_cast<std::int32_t>(any(whole.tofu().nodes()))});
    while (links.size() < 3)
      if (const LinkId link{any(whole.link_bound())}; whole.is_link(link)) links.push_back(link);
    const auto torus = whole.without(nodes, links);
    if (!torus) {
      ++cut;
      EXPECT_NE(torus.error().sentence().find("none of the 12"), std::string::npos) << torus.error().sentence();
      continue;
    }
    ++kept;
    expect_alive(*torus);
  }
  EXPECT_GT(kept, 20);
}

TEST(DeadNode, ADeadCableShortensNothing) {
  const VirtualTorus whole = *lay_job(k_machine(), shape("8x9x16"));
  std::vector<LinkId> route;
  whole.append_route(NodeId{0}, *whole.neighbour(NodeId{0}, 0, 1), route);
  const VirtualTorus torus = *whole.without({}, route);
  EXPECT_EQ(torus.shape(), whole.shape());
  const auto far = torus.far_neighbours();
  EXPECT_EQ(far.pairs, 2);
  EXPECT_EQ(far.most_hops, 3);
}

// A node whose ten cables are dead is alive and cut off.
TEST(DeadNode, WhatCutsTheJobIsOneSentence) {
  for (const char* text : {"2x2x2x2x3x2", "24x2x16x2x3x2"}) {
    const VirtualTorus whole = *lay_job(k_machine(), box(text), std::nullopt);
    const NodeId lonely = whole.tofu().node(whole.place(NodeId{1}));
    std::vector<LinkId> cables;
    for (std::int32_t axis = 0; axis < 6; ++axis)
      for (const auto direction : {Torus::Direction::plus, Torus::Direction::minus})
        if (const LinkId link = whole.tofu().torus().link(lonely, axis, direction); whole.is_link(link))
          cables.push_back(link);
    const auto torus = whole.without({}, cables);
    ASSERT_FALSE(torus.ok());
    EXPECT_NE(torus.error().sentence().find("take "), std::string::npos);
    const auto& without = whole.tofu().without({}, cables);
    EXPECT_FALSE(check_connected(without, everyone).ok());
    EXPECT_TRUE(check_connected(without, [&](const TofuPlace& at) { return at != whole.place(NodeId{1}); }).ok());
  }
  const VirtualTorus one = *lay_job(k_machine(), shape("1"));
  EXPECT_FALSE(one.without(std::vector{one.tofu().node(one.place(NodeId{0}))}, {}).ok());
}

// The proof by groups against looking at all pairs: it never says that a way is there where none is.
TEST(DeadNode, TheProofHoldsPairByPair) {
  std::mt19937 random(6);
  const Tofu tofu = fugaku_machine().network.part({{}, {3, 2, 2, 2, 3, 2}});
  int proven = 0;
  for (int i = 0; i < 60; ++i) {
    std::vector<NodeId> nodes;
    for (int n = 1 + static_cast<int>(random() % 4); n > 0; --n)
      nodes.push_back(NodeId{static_cast<std::int32_t>(random() % tofu.nodes())});
    const Tofu broken = tofu.without(nodes, {});
    const bool reached = check_connected(broken, everyone).ok();
    proven += reached;
    bool all = true;
    for (std::int32_t from = 0; from < tofu.nodes(); from += 1 + i % 3)
      for (std::int32_t to = 0; to < tofu.nodes(); ++to)
        if (broken.alive(NodeId{from}) && broken.alive(NodeId{to}))
          all &= broken.live_way(tofu.place(NodeId{from}), tofu.place(NodeId{to})).has_value();
    EXPECT_TRUE(all || !reached);
  }
  EXPECT_GT(proven, 30);
}

} // namespace
} // namespace kumihimo
