// Torus and mesh against a graph made cable by cable.
#include "shapes.hpp"
#include "topology/single_node.hpp"
#include "topology/torus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>
#include <set>

namespace kumihimo {
namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;

// Both directions of every cable: between successive coordinates, and round the end where there are 3 or more.
std::multiset<Pair> cables(const Shape& shape) {
  std::multiset<Pair> links;
  for (std::int32_t a = 0; a < shape.dimensions(); ++a)
    for (std::int32_t place = 0; place < shape.places(); ++place) {
      Coordinates c = shape.coordinates(place);
      const bool last = ++c[a] == shape.length(a);
      if (last && !(shape.axes()[a].wraps && shape.length(a) > 2)) continue;
      if (last) c[a] = 0;
      links.emplace(place, shape.place(c));
      links.emplace(shape.place(c), place);
    }
  return links;
}

// Hops from one node to all others by breadth-first search.
std::vector<std::int32_t> distances(const std::multiset<Pair>& links, std::int32_t nodes, std::int32_t from) {
  std::vector<std::int32_t> hops(nodes, -1);
  std::queue<std::int32_t> queue;
  hops[from] = 0;
  for (queue.push(from); !queue.empty(); queue.pop()) {
    const std::int32_t at = queue.front();
    for (auto it = links.lower_bound({at, 0}); it != links.end() && it->first == at; ++it)
      if (hops[it->second] < 0) {
        hops[it->second] = hops[at] + 1;
        queue.push(it->second);
      }
  }
  return hops;
}

std::int32_t axis_of(const Torus& torus, LinkId link) {
  return static_cast<std::int32_t>(link.value / 2 % torus.shape().dimensions());
}
bool is_plus(LinkId link) { return link.value % 2 == 0; }

std::vector<LinkId> route(const Topology& topology, std::int32_t from, std::int32_t to) {
  std::vector<LinkId> links;
  topology.append_route(NodeId{from}, NodeId{to}, links);
  return links;
}

TEST(Torus, HasExactlyTheLinksOfItsCables) {
  for (const Shape& shape : small_shapes(4, 4, 48)) {
    const Torus torus(shape);
    std::multiset<Pair> links;
    for (std::int64_t id = 0; id < torus.link_bound(); ++id) {
      if (!torus.is_link(LinkId{id})) continue;
      const auto link = torus.describe(LinkId{id});
      links.emplace(link.from.value, link.to.value);
    }
    const auto expected = cables(shape);
    ASSERT_EQ(links, expected) << shape.text();
    ASSERT_EQ(torus.links(), static_cast<std::int64_t>(expected.size())) << shape.text();
    std::size_t degree = 0;
    for (std::int32_t n = 0; n < torus.nodes(); ++n)
      degree =
          std::max<std::size_t>(degree, std::distance(expected.lower_bound({n, 0}), expected.lower_bound({n + 1, 0})));
    ASSERT_EQ(torus.degree(), static_cast<std::int32_t>(degree)) << shape.text();
  }
}

TEST(Torus, LinkIdsAreUniqueAndNameTheirEnds) {
  for (const Shape& shape : small_shapes(3, 5, 60)) {
    const Torus torus(shape);
    std::set<LinkId> seen;
    for (std::int32_t n = 0; n < torus.nodes(); ++n)
      for (std::int32_t axis = 0; axis < shape.dimensions(); ++axis)
        for (const auto direction : {Torus::Direction::plus, Torus::Direction::minus}) {
          const LinkId link = torus.link(NodeId{n}, axis, direction);
          ASSERT_TRUE(link.value >= 0 && link.value < torus.link_bound());
          ASSERT_TRUE(seen.insert(link).second) << shape.text() << " link " << link.value;
          const auto described = torus.describe(link);
          ASSERT_EQ(described.from, NodeId{n});
          ASSERT_EQ(described.to, torus.neighbour(NodeId{n}, axis, direction));
        }
  }
}

TEST(Torus, RoutesAreShortestContiguousAndInDimensionOrder) {
  for (const Shape& shape : small_shapes(3, 6, 40)) {
    const Torus torus(shape);
    const auto links = cables(shape);
    std::int32_t diameter = 0;
    for (std::int32_t from = 0; from < torus.nodes(); ++from) {
      const auto hops = distances(links, torus.nodes(), from);
      for (std::int32_t to = 0; to < torus.nodes(); ++to) {
        const auto way = route(torus, from, to);
        ASSERT_EQ(static_cast<std::int32_t>(way.size()), hops[to]) << shape.text() << " " << from << " to " << to;
        ASSERT_EQ(torus.distance(NodeId{from}, NodeId{to}), hops[to]);
        diameter = std::max(diameter, hops[to]);
        NodeId at{from};
        for (std::size_t i = 0; i < way.size(); ++i) {
          ASSERT_TRUE(torus.is_link(way[i])) << shape.text() << " " << from << " to " << to;
          ASSERT_EQ(torus.describe(way[i]).from, at);
          at = torus.describe(way[i]).to;
          if (i == 0) continue;
          const auto axis = axis_of(torus, way[i]), before = axis_of(torus, way[i - 1]);
          ASSERT_GE(axis, before) << "axes are walked in order";
          if (axis == before) {
            ASSERT_EQ(is_plus(way[i]), is_plus(way[i - 1])) << "each in one direction";
          }
        }
        ASSERT_EQ(at, NodeId{to});
      }
    }
    ASSERT_EQ(torus.diameter(), diameter) << shape.text();
  }
}

TEST(Torus, AtHalfARingEvenGoesPlusAndOddMinus) {
  for (std::int32_t length = 2; length <= 12; length += 2) {
    const Torus ring(Shape({Axis{3, true}, Axis{length, true}}));
    for (std::int32_t from = 0; from < length; ++from) {
      const auto way = route(ring, from, (from + length / 2) % length);
      ASSERT_EQ(static_cast<std::int32_t>(way.size()), length / 2);
      for (const LinkId link : way) EXPECT_EQ(is_plus(link), from % 2 == 0) << length << " from " << from;
    }
  }
}

// The reason for the rule: exchanges across half a ring load each link of it alike.
TEST(Torus, OppositeExchangesLoadBothWaysRoundAlike) {
  for (const std::int32_t length : {4, 8, 12, 16}) {
    const Torus ring(Shape({Axis{length, true}}));
    std::vector<int> load(ring.link_bound());
    for (std::int32_t from = 0; from < length; ++from)
      for (const LinkId link : route(ring, from, (from + length / 2) % length)) ++load[link.value];
    for (const int messages : load) EXPECT_EQ(messages, length / 4) << length;
  }
}

TEST(Torus, AnAxisOfTwoIsOneCable) {
  for (const bool wraps : {true, false}) {
    const Torus pair(Shape({Axis{2, wraps}}));
    EXPECT_EQ(pair.links(), 2);
    EXPECT_EQ(pair.degree(), 1);
    EXPECT_EQ(pair.bisection_links(), 1);
    EXPECT_EQ(route(pair, 0, 1), std::vector{pair.link(NodeId{0}, 0, Torus::Direction::plus)});
    EXPECT_EQ(route(pair, 1, 0), std::vector{pair.link(NodeId{1}, 0, Torus::Direction::minus)});
    EXPECT_FALSE(pair.is_link(pair.link(NodeId{0}, 0, Torus::Direction::minus)));
    EXPECT_FALSE(pair.is_link(pair.link(NodeId{1}, 0, Torus::Direction::plus)));
  }
}

TEST(Torus, AxesOfOneHaveNoLinks) {
  const Torus dot(*Shape::parse("1x1m"));
  EXPECT_EQ(dot.nodes(), 1);
  EXPECT_EQ(dot.links(), 0);
  EXPECT_EQ(dot.degree(), 0);
  EXPECT_EQ(dot.diameter(), 0);
  EXPECT_EQ(dot.bisection_links(), 0);
  EXPECT_TRUE(route(dot, 0, 0).empty());
  const Torus flat(*Shape::parse("4x1x3")), plain(*Shape::parse("4x3"));
  EXPECT_EQ(flat.links(), plain.links());
  EXPECT_EQ(flat.bisection_links(), plain.bisection_links());
  EXPECT_EQ(flat.diameter(), plain.diameter());
}

// Over all cuts of one axis into its halves (floor and ceiling), wherever the cut is made.
TEST(Torus, BisectionIsTheNarrowestCutAcrossAnAxis) {
  for (const Shape& shape : small_shapes(3, 6, 60)) {
    const Torus torus(shape);
    const auto links = cables(shape);
    std::int64_t fewest = torus.nodes() == 1 ? 0 : std::numeric_limits<std::int64_t>::max();
    for (std::int32_t a = 0; a < shape.dimensions(); ++a) {
      const std::int32_t n = shape.length(a);
      for (std::int32_t first = 0; n > 1 && first < n; ++first) {
        const auto inside = [&](std::int32_t node) { return (shape.coordinate(node, a) - first + n) % n < n / 2; };
        fewest = std::min<std::int64_t>(fewest, std::count_if(links.begin(), links.end(), [&](const Pair& link) {
                                          return inside(link.first) && !inside(link.second);
                                        }));
      }
    }
    ASSERT_EQ(torus.bisection_links(), fewest) << shape.text();
  }
}

// Where all lengths are even no other halving of the nodes is narrower: by all subsets of half the nodes.
TEST(Torus, NoHalvingIsNarrowerWhereLengthsAreEven) {
  for (const char* text :
       {"2", "4", "8m", "4x2", "4mx2", "2x2x2", "4x4", "4x4m", "4mx4m", "2x2x2x2", "8x2", "4x2x2m"}) {
    const Shape shape = *Shape::parse(text);
    const auto links = cables(shape);
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t half = 0; half < 1u << shape.places(); ++half) {
      if (std::popcount(half) * 2 != shape.places()) continue;
      std::int64_t cut = 0;
      for (const auto& [from, to] : links) cut += (half >> from & 1) && !(half >> to & 1);
      fewest = std::min(fewest, cut);
    }
    EXPECT_EQ(Torus(shape).bisection_links(), fewest) << text;
  }
}

TEST(Torus, SaysItsName) {
  EXPECT_EQ(Torus(*Shape::parse("48x6x32")).name(), "torus 48x6x32");
  EXPECT_EQ(Torus(*Shape::parse("4x3m")).name(), "torus 4x3m");
  EXPECT_EQ(Torus(*Shape::parse("4mx3m")).name(), "mesh 4mx3m");
  const Torus torus(*Shape::parse("4x3x2"));
  EXPECT_EQ(torus.describe(torus.link(NodeId{23}, 1, Torus::Direction::minus)).name, "-y at (3,2,1)");
}

TEST(Torus, FullMachineNeedsNoTables) {
  const Torus k(*Shape::parse("48x54x32"));
  EXPECT_EQ(k.links(), 82944 * 6);
  EXPECT_EQ(k.diameter(), 24 + 27 + 16);
  EXPECT_EQ(k.bisection_links(), 2 * 48 * 32);
  const Torus largest(*Shape::parse("2147483647"));
  EXPECT_EQ(largest.links(), 2 * 2147483647LL);
  EXPECT_EQ(largest.distance(NodeId{0}, NodeId{2147483646}), 1);
  EXPECT_EQ(largest.diameter(), 1073741823);
}

TEST(SingleNode, HasNothingBetweenItsRanks) {
  const SingleNode node;
  EXPECT_EQ(node.nodes(), 1);
  EXPECT_EQ(node.links(), 0);
  EXPECT_EQ(node.distance(NodeId{0}, NodeId{0}), 0);
  EXPECT_TRUE(route(node, 0, 0).empty());
  EXPECT_EQ(node.name(), "single node");
}

} // namespace
} // namespace kumihimo
