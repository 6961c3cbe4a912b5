// Virtual tori: neighbours one hop apart whatever box a job gets, and around what is dead.
#include "tofu_shapes.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace kumihimo {
namespace {

std::string sentence(const Result<VirtualTorus>& torus) { return torus.ok() ? "" : torus.error().sentence(); }

// Every node of the job at a place of its own, and all neighbours beside each other in the machine.
void expect_torus(const VirtualTorus& torus, const Shape& machine) {
  std::set<TofuPlace> seen;
  for (std::int32_t node = 0; node < torus.nodes(); ++node) {
    const TofuPlace at = torus.place(NodeId{node});
    ASSERT_TRUE(seen.insert(at).second) << torus.name();
    ASSERT_EQ(torus.node_at(at), NodeId{node}) << torus.name();
    for (std::int32_t axis = 0; axis < torus.shape().dimensions(); ++axis)
      for (const std::int32_t step : {1, -1}) {
        const auto other = torus.neighbour(NodeId{node}, axis, step);
        if (!other) continue;
        ASSERT_TRUE(
            beside(machine, torus.tofu().place_in_machine(at), torus.tofu().place_in_machine(torus.place(*other))))
            << torus.name() << " node " << node << " axis " << axis;
        std::vector<LinkId> route;
        torus.append_route(NodeId{node}, *other, route);
        ASSERT_EQ(route.size(), 1U);
        ASSERT_EQ(torus.describe(route[0]).from, NodeId{node});
        ASSERT_EQ(torus.describe(route[0]).to, *other);
      }
  }
  for (std::int32_t node = 0; node < torus.tofu().nodes(); ++node) {
    const TofuPlace at = torus.tofu().place(NodeId{node});
    ASSERT_EQ(torus.node_at(at).has_value(), seen.contains(at)) << torus.name();
  }
}

// Machines of all kinds of axes, boxes anywhere in them, also round the ends of X and Z, and of length 1.
TEST(VirtualTorus, EveryBoxOfWholeGroupsIsATorusOfThreeDimensions) {
  std::mt19937 random(3);
  for (int i = 0; i < 150; ++i) {
    std::vector<Axis> axes;
    TofuRequest request;
    request.first.emplace();
    for (std::int32_t axis = 0; axis < 3; ++axis) {
      axes.push_back({1 + static_cast<std::int32_t>(random() % 6), random() % 3 > 0});
      const Axis& kind = axes.back();
      const auto used = 1 + static_cast<std::int32_t>(random() % kind.length);
      request.lengths[axis] = used;
      if (used < kind.length)
        (*request.first)[axis] =
            static_cast<std::int32_t>(random() % (kind.wraps ? kind.length : kind.length - used + 1));
    }
    axes.insert(axes.end(), {{2, false}, {3, true}, {2, false}});
    request.lengths[3] = 2, request.lengths[4] = 3, request.lengths[5] = 2;
    const Shape machine(axes);
    const auto torus = lay_job({*Tofu::make(machine), false}, request, std::nullopt);
    ASSERT_TRUE(torus.ok()) << sentence(torus);
    const TofuPlace& l = request.lengths;
    EXPECT_EQ(torus->shape(), Shape({Axis{2 * l[0]}, Axis{3 * l[1]}, Axis{2 * l[2]}}));
    expect_torus(*torus, machine);
  }
}

TEST(VirtualTorus, TwoAndOneDimensionsUseEveryNodeOfABoxToo) {
  for (std::int32_t x = 1; x <= 5; ++x)
    for (std::int32_t y = 1; y <= 4; ++y)
      for (std::int32_t z = 1; z <= 4; ++z) {
        const TofuRequest request{{x, y, z, 2, 3, 2}, TofuPlace{22, 3, 14}};
        const auto two = lay_job(fugaku_machine(), request, Shape({Axis{6 * x}, Axis{2 * y * z}}));
        ASSERT_TRUE(two.ok()) << sentence(two);
        EXPECT_EQ(two->nodes(), two->tofu().nodes());
        expect_torus(*two, fugaku_machine().network.shape());
        const auto one = lay_job(fugaku_machine(), request, Shape({Axis{12 * x * y * z}}));
        ASSERT_TRUE(one.ok()) << sentence(one);
        EXPECT_EQ(one->nodes(), one->tofu().nodes());
        expect_torus(*one, fugaku_machine().network.shape());
      }
}

TEST(VirtualTorus, JobsFindTheSmallestBox) {
  const struct {
    const char *shape, *name;
  } cases[] = {
      {"48x6x32", "torus 48x6x32 in Tofu 24x2x17x2x3x2"}, // all of Z, so with the I/O nodes
      {"32x6x48", "torus 32x6x48 in Tofu 16x16x3x2x3x2"},
      {"8x9x16", "torus 8x9x16 in Tofu 4x3x8x2x3x2"},
      {"4x4x4", "torus 4x4x4 in Tofu 2x2x2x2x3x2"},
      {"8x8x8", "torus 8x8x8 in Tofu 4x3x4x2x3x2"},
      {"2x2x2", "torus 2x2x2 in Tofu 1x1x1x2x3x2"},
      {"64x64", "torus 64x64 in Tofu 11x4x8x2x3x2"},
      {"4x3", "torus 4x3 in Tofu 1x1x2x2x3x2"},
      {"24", "torus 24 in Tofu 1x1x2x2x3x2"},
      {"7", "torus 7 in Tofu 1x1x3x2x3x2"},
      {"1", "torus 1 in Tofu 1x1x1x2x3x2"},
      {"5mx7", "torus 5mx7 in Tofu 3x1x3x2x3x2"},
  };
  for (const auto& [text, name] : cases) {
    const auto torus = lay_job(k_machine(), shape(text));
    ASSERT_TRUE(torus.ok()) << text << ": " << sentence(torus);
    EXPECT_EQ(torus->name(), name);
    expect_torus(*torus, k_machine().network.shape());
  }
}

TEST(VirtualTorus, TheWholeMachines) {
  EXPECT_EQ(whole_torus(k_machine()).text(), "48x54x32");
  EXPECT_EQ(whole_torus(fugaku_machine()).text(), "48x69x48");
  const VirtualTorus k = *lay_job(k_machine(), shape("48x54x32"));
  EXPECT_EQ(k.nodes(), 82944);
  EXPECT_EQ(k.far_neighbours().pairs, 0);
  EXPECT_EQ(k.bisection_links(), 24 * 17 * 12) << "across Y, a mesh; I/O nodes relay";
  EXPECT_EQ(lay_job(fugaku_machine(), shape("48x69x48"))->far_neighbours().pairs, 0);
}

// Random shapes: what is given is right, and even shapes that the machine has room for are given.
TEST(VirtualTorus, RandomShapesHaveTheirNeighboursBeside) {
  std::mt19937 random(4);
  int laid = 0;
  for (int i = 0; i < 150; ++i) {
    std::vector<Axis> axes;
    const int dimensions = 1 + static_cast<int>(random() % 3);
    for (int d = 0; d < dimensions; ++d)
      axes.push_back({1 + static_cast<std::int32_t>(random() % 20), random() % 5 > 0});
    const Shape job(axes);
    const auto torus = lay_job(k_machine(), job);
    if (!torus) continue;
    ++laid;
    expect_torus(*torus, k_machine().network.shape());
  }
  EXPECT_GT(laid, 70);
}

TEST(VirtualTorus, WhatFitsNowhereIsOneSentence) {
  for (const char* text : {"7x5x3", "50x50x6", "48x55x34", "2x2x2x2", "82945"}) {
    const auto torus = lay_job(k_machine(), shape(text));
    ASSERT_FALSE(torus.ok()) << text;
    EXPECT_NE(sentence(torus).find(text), std::string::npos) << sentence(torus);
  }
  const auto all_but_one = lay_job(k_machine(), shape("82943"));
  EXPECT_NE(sentence(all_but_one).find("no ring of odd length 82943 fits: use length 82944 or a mesh axis (82943m)"),
            std::string::npos)
      << sentence(all_but_one);
  EXPECT_TRUE(lay_job(k_machine(), shape("82944")).ok());
  EXPECT_TRUE(lay_job(k_machine(), shape("82943m")).ok());
  EXPECT_NE(sentence(lay_job(k_machine(), shape("7x9"))).find("one may be odd"), std::string::npos);
  for (const char* text : {"4x3x8x2x3x1", "25x1x1x2x3x2", "1x1x17x2x3x2", "4x3x8x2x3x2@0,0,0", "4x3x8x2x3x2@0,16,1"}) {
    const auto torus = lay_job(k_machine(), box(text), std::nullopt);
    ASSERT_FALSE(torus.ok()) << text;
    EXPECT_NE(sentence(torus).find("whole groups"), std::string::npos) << sentence(torus);
  }
  EXPECT_FALSE(lay_job(k_machine(), box("4x3x8x2x3x2"), shape("10x9x16")).ok());
  for (const char* text : {"", "4x3x8", "4x3x8x2x3x2x1", "4x3x8x2x3x2@", "4x3x8x2x3x2@1", "0x3x8x2x3x2", "axb"})
    EXPECT_FALSE(TofuRequest::parse(text).ok()) << text;
}

// Sabotage: rings that claim a cable that the box has not are found out.
TEST(VirtualTorus, AFalseRingIsFoundOut) {
  const Tofu box = fugaku_machine().network.part({{}, {5, 1, 2, 2, 3, 2}});
  const VirtualTorus wrong(
      box, {}, shape("5x4"),
      {*TofuRing::make({{Tofu::x, 5, true}}, 5), *TofuRing::make({{Tofu::z, 2}, {Tofu::c, 2}}, 4)});
  const auto far = wrong.far_neighbours();
  EXPECT_EQ(far.pairs, 2 * 4);
  EXPECT_EQ(far.most_hops, 4);
  const VirtualTorus right(
      box, {}, shape("10x4"),
      {*TofuRing::make({{Tofu::x, 5}, {Tofu::a, 2}}, 10), *TofuRing::make({{Tofu::z, 2}, {Tofu::c, 2}}, 4)});
  EXPECT_EQ(right.far_neighbours().pairs, 0);
}

TEST(VirtualTorus, MessagesBetweenOthersCrossThePhysicalNetwork) {
  const VirtualTorus torus = *lay_job(k_machine(), shape("48x6x32"));
  // 24 along X' is the top of the ring: x = 23 to x = 0 is one hop round X, and a.
  EXPECT_EQ(torus.distance(NodeId{0}, NodeId{torus.shape().place({24, 0, 0})}), 2);
  EXPECT_LT(torus.diameter(), Torus(torus.shape()).diameter());
  EXPECT_EQ(torus.bisection_links(), 2 * 2 * 17 * 12);
}

} // namespace
} // namespace kumihimo
