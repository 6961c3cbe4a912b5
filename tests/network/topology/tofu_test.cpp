// The six physical axes: links, the order of routes, the twelve ways, parts of a machine.
#include "tofu_shapes.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace kumihimo {
namespace {

Tofu tofu(std::string_view shape) { return *Tofu::make(*Shape::parse(shape)); }

std::vector<LinkId> way(const Tofu& t, NodeId from, NodeId to, const Tofu::Way& w) {
  std::vector<LinkId> route;
  t.append_way(t.place(from), t.place(to), w, route);
  return route;
}

TEST(Tofu, IsThatOfTheKComputer) {
  const Tofu k = k_machine().network;
  EXPECT_EQ(k.shape(), Tofu::usual({24, 18, 17, 2, 3, 2}));
  EXPECT_EQ(k.nodes(), 82944 + 24 * 18 * 12) << "with the I/O nodes";
  EXPECT_EQ(k.degree(), 10);
  EXPECT_EQ(k.name(), "Tofu 24x18x17x2x3x2");
  EXPECT_EQ(k.diameter(), 12 + 17 + 8 + 1 + 1 + 1);
  const NodeId node = k.node({3, 0, 1, 0, 2, 1});
  EXPECT_EQ(k.describe(k.torus().link(node, Tofu::b, Torus::Direction::plus)).name, "+b at (3,0,1,0,2,1)");
  EXPECT_EQ(k.describe(k.torus().link(node, Tofu::b, Torus::Direction::plus)).to, k.node({3, 0, 1, 0, 0, 1}));
  EXPECT_FALSE(Tofu::make(*Shape::parse("4x4x4")).ok());
}

TEST(Tofu, EveryLinkJoinsNodesBesideEachOther) {
  const Tofu t = tofu("3x2mx4x2mx3x2m");
  std::int64_t links = 0;
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (std::int64_t id = 0; id < t.link_bound(); ++id) {
    if (!t.is_link(LinkId{id})) continue;
    ++links;
    const auto link = t.describe(LinkId{id});
    ASSERT_TRUE(beside(t.shape(), t.place(link.from), t.place(link.to)));
    ASSERT_TRUE(seen.emplace(link.from.value, link.to.value).second);
  }
  EXPECT_EQ(links, t.links());
  EXPECT_EQ(links, 288 * (2 + 1 + 2 + 1 + 2 + 1)) << "nodes times ports";
}

TEST(Tofu, RoutesWalkTheAxesInOrder) {
  const Tofu t = tofu("5x3mx4x2mx3x2m");
  constexpr std::array<int, 6> rank{0, 1, 2, 3, 5, 4}; // x, y, z, a, c, b
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const NodeId from{static_cast<std::int32_t>(random() % t.nodes())},
        to{static_cast<std::int32_t>(random() % t.nodes())};
    std::vector<LinkId> route;
    t.append_route(from, to, route);
    ASSERT_EQ(static_cast<std::int32_t>(route.size()), t.torus().distance(from, to)) << "the shortest";
    NodeId at = from;
    int before = -1;
    for (const LinkId link : route) {
      ASSERT_TRUE(t.is_link(link));
      ASSERT_EQ(t.describe(link).from, at);
      at = t.describe(link).to;
      ASSERT_GE(rank[link.value / 2 % 6], before);
      before = rank[link.value / 2 % 6];
    }
    ASSERT_EQ(at, to);
  }
}

// The axes on which a message to another group runs between b, c, a moves and a, c, b moves; twelve ways, no two of
// which share a link between groups.
TEST(Tofu, HasTwelveWaysApartFromEachOther) {
  const Tofu t = tofu("5x3mx4x2mx3x2m");
  ASSERT_EQ(t.ways().size(), 12U);
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    const NodeId from{static_cast<std::int32_t>(random() % t.nodes())},
        to{static_cast<std::int32_t>(random() % t.nodes())};
    std::set<LinkId> between;
    std::size_t hops_between = 0;
    for (const Tofu::Way& w : t.ways()) {
      const auto route = way(t, from, to, w);
      ASSERT_EQ(static_cast<std::int32_t>(route.size()), t.hops(t.place(from), t.place(to), w));
      NodeId at = from;
      constexpr std::array<std::int32_t, 9> order{Tofu::b, Tofu::c, Tofu::a, Tofu::x, Tofu::y,
                                                  Tofu::z, Tofu::a, Tofu::c, Tofu::b};
      std::size_t leg = 0;
      for (const LinkId link : route) {
        ASSERT_TRUE(t.is_link(link));
        ASSERT_EQ(t.describe(link).from, at);
        at = t.describe(link).to;
        while (leg < order.size() && order[leg] != link.value / 2 % 6) ++leg;
        ASSERT_LT(leg, order.size()) << "b, c, a, then x, y, z, a, c, b";
        if (link.value / 2 % 6 > Tofu::z) continue;
        between.insert(link);
        ++hops_between;
        const TofuPlace p = t.place(at);
        ASSERT_EQ((Tofu::Way{p[Tofu::a], p[Tofu::b], p[Tofu::c]}), w);
      }
      ASSERT_EQ(at, to);
    }
    ASSERT_EQ(between.size(), hops_between);
  }
}

TEST(Tofu, APartKeepsItsMessagesAndTheMachinesNames) {
  const Tofu whole = tofu("5x3mx4x2mx3x2m");
  const Tofu part = whole.part({{3, 1, 0, 0, 0, 0}, {3, 2, 4, 2, 3, 2}}); // x = 3, 4, 0
  EXPECT_EQ(part.shape().text(), "3mx2mx4x2mx3x2m");
  EXPECT_EQ(part.text(part.node({2, 1, 3, 1, 2, 0})), "(0,2,3,1,2,0)");
  EXPECT_EQ(part.distance(part.node({0, 0, 0, 0, 0, 0}), part.node({2, 0, 3, 0, 0, 0})), 3);
  for (std::int64_t id = 0; id < part.link_bound(); ++id) {
    if (!part.is_link(LinkId{id})) continue;
    const auto link = part.describe(LinkId{id});
    ASSERT_TRUE(beside(whole.shape(), part.place_in_machine(part.place(link.from)),
                       part.place_in_machine(part.place(link.to))));
  }
}

TEST(Tofu, TakesWhatIsDeadIntoItsParts) {
  const Tofu whole = tofu("5x3mx4x2mx3x2m");
  const NodeId dead = whole.node({4, 1, 2, 1, 2, 0}), outside = whole.node({1, 1, 2, 1, 2, 0});
  const LinkId cable = whole.torus().link(whole.node({4, 1, 1, 0, 0, 0}), Tofu::x, Torus::Direction::plus);
  const Tofu part =
      whole.without(std::vector{dead, outside}, std::vector{cable}).part({{3, 1, 0, 0, 0, 0}, {3, 2, 4, 2, 3, 2}});
  ASSERT_EQ(part.dead_nodes(), std::vector{part.node({1, 0, 2, 1, 2, 0})});
  EXPECT_EQ(part.dead_links().size(), 2U) << "both directions";
  EXPECT_FALSE(part.is_link(part.torus().link(part.node({1, 0, 1, 0, 0, 0}), Tofu::x, Torus::Direction::plus)));
  EXPECT_FALSE(part.is_link(part.torus().link(part.node({2, 0, 1, 0, 0, 0}), Tofu::x, Torus::Direction::minus)));
  EXPECT_LT(part.links(), part.torus().links());
}

} // namespace
} // namespace kumihimo
