#include "networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace kumihimo {
namespace {

// The most messages on a link when every node sends to the one `shift` further on, by class of links.
std::vector<int> busiest_of_shift(const FatTree& tree, std::int32_t shift) {
  std::vector<int> load(tree.link_bound()), busiest(tree.link_classes().size());
  for (std::int32_t from = 0; from < tree.nodes(); ++from)
    for (const LinkId link : route_of(tree, from, (from + shift) % tree.nodes())) ++load[link.value];
  for (std::int64_t link = 0; link < tree.link_bound(); ++link) {
    int& most = busiest[tree.link_class(LinkId{link})];
    most = std::max(most, load[link]);
  }
  return busiest;
}

TEST(FatTree, AKAryNTreeHasItsParts) {
  const auto tree = *FatTree::make({{4, 1}, {4, 4}, {4, 4}}, 64);
  EXPECT_EQ(tree.switches(), 3 * 16);
  EXPECT_EQ(tree.links(), 2 * 3 * 64);
  EXPECT_EQ(tree.diameter(), 6);
  EXPECT_EQ(tree.degree(), 1);
  EXPECT_EQ(tree.bisection_links(), 32);
  EXPECT_EQ(tree.levels(), (std::vector<Level>{{"level2", 16}, {"switch", 4}}));
  EXPECT_EQ(tree.distance(NodeId{0}, NodeId{3}), 2);
  EXPECT_EQ(tree.distance(NodeId{0}, NodeId{4}), 4);
  EXPECT_EQ(tree.distance(NodeId{15}, NodeId{16}), 6);
  EXPECT_EQ(tree.name(), "fat tree 4x4x4 of 64 nodes, d_mod_k");
}

// Zahavi's theorem: with full bisection and all places taken no two messages of a shift share a link.
TEST(FatTree, ShiftsAreFreeOfConflictsByDModK) {
  for (const auto& tiers : std::vector<std::vector<FatTree::Tier>>{{{4, 1}, {4, 4}},
                                                                   {{3, 1}, {5, 3}},
                                                                   {{2, 1}, {3, 2}, {2, 3}},
                                                                   {{4, 1}, {4, 2, 2}},
                                                                   {{6, 1}, {4, 3, 2}, {2, 4, 2}}}) {
    std::int32_t places = 1;
    for (const auto& tier : tiers) places *= tier.children;
    const auto tree = *FatTree::make(tiers, places);
    for (std::int32_t shift = 1; shift < places; ++shift)
      for (const int most : busiest_of_shift(tree, shift)) ASSERT_LE(most, 1) << tree.name() << " by " << shift;
  }
}

TEST(FatTree, HashedRoutesMeetNowAndThen) {
  const auto tree = *FatTree::make({{8, 1}, {8, 8}}, 64);
  const auto hashed = std::static_pointer_cast<const FatTree>(tree.routed("ecmp"));
  int most = 0;
  for (std::int32_t shift = 8; shift < 56; ++shift) most = std::max(most, busiest_of_shift(*hashed, shift)[1]);
  EXPECT_GE(most, 3);
  EXPECT_EQ(hashed->routed("d_mod_k")->name(), tree.name());
}

// 8 nodes over 4 parents: uplinks carry two messages where all leave their switch, and the cut is half as wide.
TEST(FatTree, ATaperedTreeHasLessAbove) {
  const auto tree = *FatTree::make({{8, 1}, {4, 4}}, 32);
  EXPECT_EQ(busiest_of_shift(tree, 8), (std::vector<int>{1, 2}));
  EXPECT_EQ(tree.bisection_links(), 8);
  ASSERT_EQ(tree.cuts().size(), 2U);
  EXPECT_EQ(tree.cuts()[0].links, (std::vector<std::int64_t>{16, 0}));
  EXPECT_EQ(tree.cuts()[1].links, (std::vector<std::int64_t>{0, 8}));
}

TEST(FatTree, NodesMayHaveSeveralCables) {
  const auto tree = *FatTree::make({{4, 1, 2}, {3, 4, 2}}, 12);
  EXPECT_EQ(tree.degree(), 2);
  EXPECT_NE(route_of(tree, 0, 1).front(), route_of(tree, 0, 2).front()) << "dealt by the destination";
  const auto rails = *FatTree::make({{4, 2}, {3, 4}}, 12); // two switches above every node
  EXPECT_EQ(rails.switches(), 3 * 2 + 8);
  EXPECT_NE(rails.describe(route_of(rails, 0, 1).front()).to, rails.describe(route_of(rails, 0, 2).front()).to);
}

TEST(FatTree, TheLastSwitchMayHaveFewerNodes) {
  const auto tree = *FatTree::make({{18, 1}, {24, 18}}, 420);
  EXPECT_EQ(tree.switches(), 24 + 18);
  EXPECT_EQ(tree.links(), 2 * (420 + 24 * 18));
  EXPECT_EQ(tree.bisection_links(), 210) << "cables of half of the nodes, no more than above them";
  EXPECT_EQ(tree.cuts().back().links, (std::vector<std::int64_t>{0, 12 * 18}));
  EXPECT_LE(busiest_of_shift(tree, 37)[1], 2) << "full but for the last switch";
}

TEST(FatTree, WrongCountsAreOneSentence) {
  using Tiers = std::vector<FatTree::Tier>;
  for (const auto& [tiers, nodes] :
       std::vector<std::pair<Tiers, std::int32_t>>{{{}, 1},
                                                   {{{4, 0}}, 4},
                                                   {{{0, 1}}, 1},
                                                   {{{4, 1, 0}}, 4},
                                                   {{{4, 1}}, 5},
                                                   {{{4, 1}}, 0},
                                                   {{{4, 1}}, -1},
                                                   {{{65536, 1}, {65536, 1}}, 9},
                                                   {{{2, 65536}, {2, 65536}}, 4},
                                                   {{{30000, 1}, {30000, 30000}}, 900000000}}) {
    const auto made = FatTree::make(tiers, nodes);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().kind, Error::Kind::bad_input);
    EXPECT_NE(made.error().sentence().find("fat tree"), std::string::npos) << made.error().sentence();
  }
}

} // namespace
} // namespace kumihimo
