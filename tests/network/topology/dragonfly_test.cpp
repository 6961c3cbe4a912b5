#include "networks.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kumihimo {
namespace {

// 9 groups of 4 routers with 2 nodes and 2 cables to other groups each: the example of the paper.
Dragonfly paper() { return *Dragonfly::make({9, 4, 0, 2, 1, 1}, 72); }
Dragonfly plus() { return *Dragonfly::make({5, 3, 4, 4, 1, 4}, 60); }

std::vector<std::int32_t> groups_met(const Dragonfly& network, std::int32_t from, std::int32_t to) {
  std::vector<std::int32_t> met;
  for (const LinkId link : route_of(network, from, to)) {
    const std::int32_t end = network.describe(link).to.value - network.nodes();
    if (end < 0) continue;
    if (const std::int32_t group = network.group_of_switch(end); met.empty() || met.back() != group)
      met.push_back(group);
  }
  return met;
}

int switch_hops(const Dragonfly& network, std::int32_t from, std::int32_t to) {
  return static_cast<int>(route_of(network, from, to).size()) - 2; // but for the cables of the two nodes
}

TEST(Dragonfly, ThePapersExampleHasItsParts) {
  const Dragonfly network = paper();
  EXPECT_EQ(network.switches(), 36);
  EXPECT_EQ(network.links(), 2 * 72 + 9 * 4 * 3 + 9 * 8);
  EXPECT_EQ(network.diameter(), 5);
  EXPECT_EQ(network.degree(), 1);
  EXPECT_EQ(network.levels(), (std::vector<Level>{{"group", 8}, {"switch", 2}}));
  EXPECT_EQ(network.cuts().back().links, (std::vector<std::int64_t>{0, 0, 4 * 5}));
  EXPECT_EQ(network.name(), "dragonfly of 72 nodes, 9 groups of 4 routers, minimal");
  std::vector<int> cables(36); // to other groups
  for (std::int64_t link = 0; link < network.link_bound(); ++link)
    if (network.link_class(LinkId{link}) == 2) ++cables[network.describe(LinkId{link}).from.value - 72];
  for (const int count : cables) EXPECT_EQ(count, 2);
}

TEST(Dragonfly, MinimalIsLocalGlobalLocal) {
  for (const Dragonfly& network : {paper(), plus()})
    for (std::int32_t from = 0; from < network.nodes(); ++from)
      for (std::int32_t to = 0; to < network.nodes(); ++to) {
        if (from == to) continue;
        ASSERT_LE(switch_hops(network, from, to), 3) << network.name();
        const auto met = groups_met(network, from, to);
        const std::int32_t here = network.group(NodeId{from}), there = network.group(NodeId{to});
        ASSERT_EQ(met, here == there ? std::vector{here} : (std::vector{here, there}));
      }
}

TEST(Dragonfly, ValiantPassesAThirdGroup) {
  for (const Dragonfly& minimal : {paper(), plus()}) {
    const auto routed = minimal.routed("valiant");
    const auto& network = static_cast<const Dragonfly&>(*routed);
    std::set<std::int32_t> between;
    for (std::int32_t from = 0; from < network.nodes(); ++from)
      for (std::int32_t to = 0; to < network.nodes(); ++to) {
        const std::int32_t here = network.group(NodeId{from}), there = network.group(NodeId{to});
        if (here == there) {
          ASSERT_EQ(route_of(network, from, to), route_of(minimal, from, to));
          continue;
        }
        const auto met = groups_met(network, from, to);
        ASSERT_EQ(met.size(), 3U);
        ASSERT_EQ(met.front(), here);
        ASSERT_EQ(met.back(), there);
        ASSERT_LE(switch_hops(network, from, to), minimal.counts().spines > 0 ? 6 : 5);
        if (here == 0 && there == 1) between.insert(met[1]);
      }
    EXPECT_EQ(between.size(), static_cast<std::size_t>(network.counts().groups - 2)) << "all others serve";
  }
}

// Every node of a group sends to the next group: one cable carries all of it minimally, and hardly more than its share
// by the others.
TEST(Dragonfly, ValiantSpreadsWhatMinimalCrowds) {
  const auto busiest = [](const Topology& network) {
    std::vector<int> load(network.link_bound());
    for (std::int32_t from = 0; from < network.nodes(); ++from)
      for (const LinkId link : route_of(network, from, (from + 8) % network.nodes())) ++load[link.value];
    int most = 0;
    for (std::int64_t link = 0; link < network.link_bound(); ++link)
      if (network.link_class(LinkId{link}) == 2) most = std::max(most, load[link]);
    return most;
  };
  EXPECT_EQ(busiest(paper()), 8);
  EXPECT_LE(busiest(*paper().routed("valiant")), 6);
}

TEST(Dragonfly, APlusHasACableFromEverySpineToEveryGroup) {
  const Dragonfly network = plus();
  EXPECT_EQ(network.switches(), 5 * 7);
  EXPECT_EQ(network.links(), 2 * (60 + 5 * 3 * 4) + 5 * 4 * 4);
  std::set<std::pair<std::int32_t, std::int32_t>> pairs; // spine, group
  for (std::int64_t link = 0; link < network.link_bound(); ++link)
    if (network.link_class(LinkId{link}) == 2) {
      const auto described = network.describe(LinkId{link});
      pairs.emplace(described.from.value, network.group_of_switch(described.to.value - network.nodes()));
    }
  EXPECT_EQ(pairs.size(), 5U * 4 * 4);
}

// Four cables between two groups: a message takes the one whose ends are nearest to its own.
TEST(Dragonfly, TakesTheCableThatMakesTheWayShortest) {
  const Dragonfly network = *Dragonfly::make({2, 4, 0, 1, 1, 4}, 8);
  for (std::int32_t router = 0; router < 4; ++router) EXPECT_EQ(switch_hops(network, router, 4 + router), 1);
  EXPECT_EQ(switch_hops(network, 0, 5), 2);
}

TEST(Dragonfly, WrongCountsAreOneSentence) {
  for (const auto& [counts, nodes] :
       std::vector<std::pair<Dragonfly::Counts, std::int32_t>>{{{0, 1, 0, 1, 1, 1}, 1},
                                                               {{1, 0, 0, 1, 1, 1}, 1},
                                                               {{1, 1, -1, 1, 1, 1}, 1},
                                                               {{1, 1, 0, 1, 0, 1}, 1},
                                                               {{2, 2, 0, 2, 1, 0}, 8},
                                                               {{2, 2, 0, 2, 1, 1}, 9},
                                                               {{2, 2, 0, 2, 1, 1}, 0},
                                                               {{60000, 2, 0, 2, 1, 1}, 9}}) {
    const auto made = Dragonfly::make(counts, nodes);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().sentence().find("dragonfly"), std::string::npos) << made.error().sentence();
  }
}

} // namespace
} // namespace kumihimo
