#include "placement/orders.hpp"
#include "placement/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace kumihimo {
namespace {

const Slots uneven = *Slots::of_nodes({2, 0, 3, 1});

std::string refused(const Result<Placement>& placement) { return placement ? "" : placement.error().sentence(); }

TEST(Slots, AreNumberedNodeByNode) {
  EXPECT_EQ(uneven.size(), 6);
  for (const Slots& slots : {uneven, Slots(3, 4), Slots(1, 5), *Slots::of_nodes({1, 2}), *Slots::of_nodes({0, 0, 1})})
    for (std::int32_t i = 0; i < slots.size(); ++i) {
      EXPECT_TRUE(slots.contains(slots.at(i)));
      EXPECT_EQ(slots.index(slots.at(i)), i);
      EXPECT_TRUE(i == 0 || slots.at(i - 1).node.value <= slots.at(i).node.value);
    }
  EXPECT_EQ(*Slots::of_nodes({4, 4, 4}), Slots(3, 4));
  EXPECT_FALSE(uneven.contains({NodeId{1}, 0})) << "a hole";
  EXPECT_FALSE(uneven.contains({NodeId{-1}, 0}));
  EXPECT_FALSE(uneven.contains({NodeId{2}, 3}));
  EXPECT_FALSE(Slots::of_nodes({2, -1}).ok());
  EXPECT_FALSE(Slots::of_nodes({0, 0}).ok());
  EXPECT_FALSE(Slots::of_nodes({2147483647, 1}).ok());
}

TEST(Placement, IsABijectionOfRanksAndSlotsThatAreTaken) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    std::vector<std::int32_t> sizes(1 + random() % 6);
    for (std::int32_t& size : sizes) size = static_cast<std::int32_t>(random() % 4);
    sizes[0] += 1;
    const Slots slots = *Slots::of_nodes(sizes);
    std::vector<Slot> of_rank;
    for (std::int32_t s = 0; s < slots.size(); ++s) of_rank.push_back(slots.at(s));
    std::shuffle(of_rank.begin(), of_rank.end(), random);
    of_rank.resize(1 + random() % of_rank.size());
    const Placement placement = *Placement::make(slots, of_rank);
    std::int32_t taken = 0;
    for (std::int32_t s = 0; s < slots.size(); ++s)
      if (const auto rank = placement.rank_in(slots.at(s))) {
        EXPECT_EQ(placement.slot(*rank), slots.at(s));
        ++taken;
      }
    EXPECT_EQ(taken, placement.ranks());
    of_rank.push_back(of_rank.front());
    EXPECT_FALSE(Placement::make(slots, of_rank).ok()) << "a slot for two";
  }
}

TEST(Placement, RefusalsNameTheRank) {
  const auto at = [](std::int32_t node, std::int32_t number) {
    return refused(Placement::make(uneven, std::vector<Slot>{{NodeId{0}, 0}, {NodeId{node}, number}}));
  };
  EXPECT_EQ(at(0, 0), "each rank needs a slot of its own (got ranks 0 and 1 in slot 0 of node 0)");
  EXPECT_EQ(at(4, 0), "the job has nodes 0 to 3 (got node 4 for rank 1)");
  EXPECT_EQ(at(1, 0), "rank 1 must be on a node of the job (got node 1)");
  EXPECT_EQ(at(2, 3), "node 2 has slots 0 to 2 (got slot 3 for rank 1); give more ranks per node");
  const std::vector<NodeId> many(3, NodeId{0});
  EXPECT_NE(refused(Placement::on_nodes(uneven, many)).find("slot 2 for rank 2"), std::string::npos);
}

TEST(PlacementRankSpace, KnowsCoordinatesOnATorusAndElseNeighboursOnANode) {
  const Shape torus = *Shape::parse("3x2");
  const RankSpace reversed = placement_in_order("reversed-axes", Slots(6, 1), torus)->rank_space(torus);
  EXPECT_EQ(reversed.name(), "torus 3x2");
  EXPECT_FALSE(reversed.row_major());
  EXPECT_EQ(reversed.place(Rank{1}), 2) << "at (1,0)";
  const RankSpace on_switches = placement_in_order("round-robin", Slots(3, 2), {})->rank_space({});
  EXPECT_FALSE(on_switches.has_shape());
  EXPECT_EQ(on_switches.nodes(),
            (std::vector<std::vector<Rank>>{{Rank{0}, Rank{3}}, {Rank{1}, Rank{4}}, {Rank{2}, Rank{5}}}));
  EXPECT_EQ(placement_in_order("random:1", Slots(1, 4), {})->rank_space({}).name(), "node of 4 ranks");
}

} // namespace
} // namespace kumihimo
