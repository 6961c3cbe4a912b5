// What holds for every network, whatever its family.
#include "networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace kumihimo {
namespace {

class EveryFamily : public ::testing::TestWithParam<NetworkFamily> {
 protected:
  static constexpr int networks = 40;
  template <class Check>
  void on_random_networks(Check&& check) {
    Draw draw(20'261);
    for (int i = 0; i < networks && !HasFailure(); ++i) {
      const TopologyPtr network = GetParam().make(draw);
      SCOPED_TRACE(network->name());
      check(*network);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Networks, EveryFamily, ::testing::ValuesIn(network_families()),
                         [](const auto& family) { return family.param.name; });

TEST_P(EveryFamily, LinksComeInPairsAndBelongToAClass) {
  on_random_networks([](const Topology& network) {
    const std::int32_t vertices = network.nodes() + network.switches();
    const auto classes = std::max<std::size_t>(network.link_classes().size(), 1);
    std::map<std::pair<std::int32_t, std::int32_t>, std::map<std::int32_t, int>> cables; // of a class, + there, - back
    std::map<std::int32_t, std::vector<std::int64_t>> leaving;
    std::int64_t links = 0;
    std::set<std::string> names;
    for (std::int64_t id = 0; id < network.link_bound(); ++id) {
      if (!network.is_link(LinkId{id})) continue;
      ++links;
      const auto [from, to, name] = network.describe(LinkId{id});
      ASSERT_TRUE(names.insert(name).second) << name << " twice";
      ASSERT_TRUE(from.value >= 0 && from.value < vertices && to.value >= 0 && to.value < vertices) << name;
      ASSERT_NE(from, to);
      const std::int32_t link_class = network.link_class(LinkId{id});
      ASSERT_TRUE(link_class >= 0 && link_class < static_cast<std::int32_t>(classes)) << name;
      cables[std::minmax(from.value, to.value)][link_class] += from.value < to.value ? 1 : -1;
      auto& counted = leaving[from.value];
      counted.resize(classes);
      ++counted[static_cast<std::size_t>(link_class)];
    }
    EXPECT_EQ(network.links(), links);
    for (const auto& [ends, by_class] : cables)
      for (const auto& [link_class, excess] : by_class)
        EXPECT_EQ(excess, 0) << "a link without its way back between " << ends.first << " and " << ends.second;
    std::vector<std::int64_t> most(classes);
    for (std::int32_t node = 0; node < network.nodes(); ++node)
      for (std::size_t c = 0; c < classes && leaving.contains(node); ++c) most[c] = std::max(most[c], leaving[node][c]);
    auto ports = network.ports();
    ports.resize(classes);
    if (network.nodes() > 1) {
      EXPECT_EQ(ports, most);
    }
  });
}

TEST_P(EveryFamily, RoutesLeadFromEndToEndAndMeetNothingTwice) {
  on_random_networks([](const Topology& network) {
    for (std::int32_t from = 0; from < network.nodes(); ++from)
      for (std::int32_t to = 0; to < network.nodes(); ++to) {
        const auto way = route_of(network, from, to);
        ASSERT_EQ(static_cast<std::int32_t>(way.size()), network.distance(NodeId{from}, NodeId{to}));
        ASSERT_LE(static_cast<std::int32_t>(way.size()), network.diameter()) << from << " to " << to;
        std::set<std::int32_t> met{from};
        std::int32_t at = from;
        for (const LinkId link : way) {
          ASSERT_TRUE(link.value >= 0 && link.value < network.link_bound() && network.is_link(link));
          const auto described = network.describe(link);
          ASSERT_EQ(described.from.value, at) << described.name << " from " << from << " to " << to;
          at = described.to.value;
          ASSERT_TRUE(met.insert(at).second) << described.name << " from " << from << " to " << to;
          ASSERT_TRUE(at == to || network.switches() == 0 || at >= network.nodes()) << "a node relays";
        }
        ASSERT_EQ(at, to);
      }
  });
}

TEST_P(EveryFamily, CutsAreOfAtMostHalf) {
  on_random_networks([](const Topology& network) {
    const auto classes = std::max<std::size_t>(network.link_classes().size(), 1);
    for (const Topology::Cut& cut : network.cuts()) {
      EXPECT_GT(cut.share, 0);
      EXPECT_LE(cut.share, 0.5);
      EXPECT_LE(cut.links.size(), classes);
    }
    EXPECT_EQ(network.cuts().empty(), network.nodes() == 1);
  });
}

TEST_P(EveryFamily, LevelsHoldWhatIsClose) {
  on_random_networks([](const Topology& network) {
    const auto* switched = dynamic_cast<const Switched*>(&network);
    if (!switched) return;
    std::int32_t outer = network.nodes();
    for (const Level& level : switched->levels()) {
      ASSERT_TRUE(level.size > 1 && level.size < outer) << level.name;
      outer = level.size;
      std::int32_t inside = 0, outside = network.diameter(); // farthest, nearest
      for (std::int32_t a = 0; a < network.nodes(); ++a)
        for (std::int32_t b = 0; b < network.nodes(); ++b) {
          const std::int32_t hops = network.distance(NodeId{a}, NodeId{b});
          if (a / level.size == b / level.size)
            inside = std::max(inside, hops);
          else
            outside = std::min(outside, hops);
        }
      EXPECT_LE(inside, outside + (level.name == "group" ? 1 : 0)) << level.name;
    }
  });
}

TEST_P(EveryFamily, AJobKeepsTheRoutesOfTheMachine) {
  on_random_networks([](const Topology& network) {
    const auto* switched = dynamic_cast<const Switched*>(&network);
    if (!switched) return;
    const std::int32_t nodes = (network.nodes() + 1) / 2;
    const auto job = switched->part(nodes);
    EXPECT_EQ(job->nodes(), nodes);
    EXPECT_EQ(job->routing(), switched->routing());
    EXPECT_LE(job->diameter(), network.diameter());
    for (std::int32_t from = 0; from < nodes; ++from)
      for (std::int32_t to = 0; to < nodes; ++to) {
        const auto mine = route_of(*job, from, to), whole = route_of(network, from, to);
        ASSERT_EQ(mine.size(), whole.size());
        for (std::size_t i = 0; i < mine.size(); ++i)
          ASSERT_EQ(job->describe(mine[i]).name, network.describe(whole[i]).name);
      }
  });
}

} // namespace
} // namespace kumihimo
