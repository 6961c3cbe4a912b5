#include "../random_inputs.hpp"
#include "mapping/lattice/face_graphs.hpp"
#include "mapping/lattice/lattice.hpp"
#include "mapping/search/tools.hpp"
#include "traffic/pattern.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <numeric>

namespace kumihimo::mapping {
namespace {

// Whether each edge of at least so many bytes is a step of 1 on one axis.
bool puts_neighbours_side_by_side(const Lattice& lattice, const TrafficGraph& graph, std::int64_t bytes) {
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank)
    for (const TrafficGraph::Edge& edge : graph.of(rank)) {
      if (edge.bytes < bytes) continue;
      std::int32_t steps = 0;
      for (std::int32_t axis = 0; axis < lattice.shape.dimensions(); ++axis) {
        const auto [length, wraps] = lattice.shape.axes()[static_cast<std::size_t>(axis)];
        const std::int32_t step =
            std::abs(lattice.shape.coordinate(lattice.place_of_rank[static_cast<std::size_t>(rank)], axis) -
                     lattice.shape.coordinate(lattice.place_of_rank[static_cast<std::size_t>(edge.to)], axis));
        steps += wraps ? std::min(step, length - step) : step;
      }
      if (steps != 1) return false;
    }
  return true;
}

bool is_permutation(std::vector<std::int32_t> places) {
  std::sort(places.begin(), places.end());
  for (std::size_t at = 0; at < places.size(); ++at)
    if (places[at] != static_cast<std::int32_t>(at)) return false;
  return true;
}

// Axes as a graph shows them: longest first, a ring of 4 as two axes of 2, no axes of length 1.
std::vector<std::pair<std::int32_t, bool>> seen_axes(const Shape& shape) {
  std::vector<std::pair<std::int32_t, bool>> axes;
  for (const Axis& axis : shape.axes()) {
    if (axis.length == 4 && axis.wraps) {
      axes.insert(axes.end(), 2, {2, false});
    } else if (axis.length > 1) {
      axes.emplace_back(axis.length, axis.is_ring());
    }
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

TEST(Recognise, ShuffledHalosOfAnyShape) {
  Random random(5);
  for (int round = 0; round < 120; ++round) {
    const std::size_t axes = 1 + random.below(4);
    std::string shape;
    std::int32_t places = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const auto length = static_cast<std::int32_t>(2 + random.below(axes < 3 ? 11 : 6));
      places *= length;
      shape += fmt::format("{}{}{}", axis > 0 ? "x" : "", length, random.below(3) == 0 ? "m" : "");
    }
    if (places < 4) continue;
    const bool has_diagonals = axes > 1 && random.below(2) == 0;
    const int points =
        has_diagonals ? static_cast<int>(std::lround(std::pow(3, axes))) : 2 * static_cast<int>(axes) + 1;
    const std::string pattern = fmt::format("{}:{}", shape, points);
    const TrafficGraph graph =
        TrafficGraph::of(with_other_numbers(traffic_of(*GridPattern::parse(pattern)), random.next()));
    const std::vector<Lattice> found = recognise(graph);
    ASSERT_FALSE(found.empty()) << pattern;
    EXPECT_EQ(seen_axes(found[0].shape), seen_axes(*Shape::parse(shape))) << pattern;
    EXPECT_TRUE(is_permutation(found[0].place_of_rank));
    EXPECT_TRUE(puts_neighbours_side_by_side(found[0], graph, 32768)) << pattern;
    EXPECT_NEAR(found[0].covered, 1, 0.02) << pattern;
  }
}

TEST(Recognise, HalosWithDiagonalsOfEqualBytes) {
  for (const char* shape : {"5x7:9,face=100,edge=100", "9mx7:9,face=100,edge=100", "6x5x8:27,face=9,edge=9,corner=9",
                            "5mx6mx4m:27,face=9,edge=9,corner=9", "5x5x5x6m:81,face=9,edge=9,corner=9"}) {
    const std::string pattern = shape;
    const TrafficGraph graph = TrafficGraph::of(with_other_numbers(traffic_of(*GridPattern::parse(pattern)), 3));
    const std::vector<Lattice> found = recognise(graph);
    ASSERT_FALSE(found.empty()) << pattern;
    EXPECT_EQ(seen_axes(found[0].shape), seen_axes(GridPattern::parse(pattern)->shape)) << pattern;
    EXPECT_DOUBLE_EQ(found[0].covered, 1) << pattern;
  }
}

TEST(Recognise, LightTrafficBetweenOthersIsNoObstacle) {
  const Traffic halo = traffic_of(*GridPattern::parse("8x6x5:7"));
  TrafficBuilder builder = *TrafficBuilder::make(halo.ranks());
  Random random(11);
  for (std::int32_t rank = 0; rank < halo.ranks(); ++rank) {
    for (const Traffic::Flow& flow : halo.from(Rank{rank}))
      ASSERT_TRUE(builder.add(Rank{rank}, flow.to, flow.bytes, 1).ok());
    ASSERT_TRUE(builder.add(Rank{rank}, Rank{static_cast<std::int32_t>(random.below(240))}, 100, 1).ok());
  }
  const TrafficGraph graph = TrafficGraph::of(with_other_numbers(*std::move(builder).build(), 1));
  const std::vector<Lattice> found = recognise(graph);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].shape.text(), "8x6x5");
  EXPECT_LT(found[0].covered, 1);
  EXPECT_TRUE(puts_neighbours_side_by_side(found[0], graph, 32768));
}

// A rank that talks to all others is no part of a halo, and must not take ranks^2.
TEST(Recognise, GivesUpTheSkeletonOfAHub) {
  const auto with_hub = [](const char* pattern) {
    const Traffic halo = traffic_of(*GridPattern::parse(pattern));
    TrafficBuilder builder = *TrafficBuilder::make(halo.ranks());
    for (std::int32_t rank = 0; rank < halo.ranks(); ++rank) {
      for (const Traffic::Flow& flow : halo.from(Rank{rank}))
        EXPECT_TRUE(builder.add(Rank{rank}, flow.to, 100, 1).ok());
      if (rank > 0) {
        EXPECT_TRUE(builder.add(Rank{0}, Rank{rank}, 100, 1).ok());
      }
    }
    return TrafficGraph::of(*std::move(builder).build());
  };
  const Links small = links_of_at_least(with_hub("15x16:9"), 0), large = links_of_at_least(with_hub("16x16:9"), 0);
  EXPECT_LT(skeleton(small).ends.size(), small.ends.size()); // 239 neighbours
  EXPECT_EQ(skeleton(large).ends, large.ends);               // 255
  const TrafficGraph graph = with_hub("250x400:9");
  const std::clock_t start = std::clock();
  for (const Lattice& lattice : recognise(graph)) EXPECT_LT(lattice.covered, 1);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 2);
}

TEST(Recognise, OneWrongEdgeIsNoGrid) {
  const Traffic halo = traffic_of(*GridPattern::parse("8x6:5"));
  TrafficBuilder builder = *TrafficBuilder::make(halo.ranks());
  for (std::int32_t rank = 0; rank < halo.ranks(); ++rank)
    for (const Traffic::Flow& flow : halo.from(Rank{rank}))
      ASSERT_TRUE(builder.add(Rank{rank}, rank == 0 && flow.to == Rank{1} ? Rank{20} : flow.to, flow.bytes, 1).ok());
  for (const Lattice& lattice : recognise(TrafficGraph::of(*std::move(builder).build()))) EXPECT_LT(lattice.covered, 1);
}

TEST(Recognise, NothingInRandomTraffic) {
  Random random(2);
  TrafficBuilder builder = *TrafficBuilder::make(256);
  for (std::int32_t rank = 0; rank < 256; ++rank)
    for (int line = 0; line < 3; ++line)
      ASSERT_TRUE(builder.add(Rank{rank}, Rank{static_cast<std::int32_t>(random.below(256))}, 10, 1).ok());
  EXPECT_TRUE(recognise(TrafficGraph::of(*std::move(builder).build())).empty());
}

TEST(Recognise, NamesWhatItFound) {
  const std::vector<Lattice> found = recognise(TrafficGraph::of(traffic_of(*GridPattern::parse("6x8m:9"))));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].name(), "torus 8mx6, 8 neighbours");
}

// A rank in the middle has as many partners as the name says; axes of length 2 and 4 are axes of two.
TEST(Recognise, CountsTheNeighboursOfARank) {
  for (const auto& [pattern, name] : {std::pair{"8x8x2:27", "torus 8x8x2m, 17 neighbours"},
                                      {"8x8x2:7", "torus 8x8x2m, 5 neighbours"},
                                      {"16x8x4:27", "torus 16x8x2mx2m, 26 neighbours"},
                                      {"6x6x4:27", "torus 6x6x2mx2m, 26 neighbours"},
                                      {"2x2:9", "mesh 2mx2m, 3 neighbours"},
                                      {"5mx4x3:7", "torus 5mx3x2mx2m, 6 neighbours"}}) {
    const TrafficGraph graph = TrafficGraph::of(traffic_of(*GridPattern::parse(pattern)));
    const std::vector<Lattice> found = recognise(graph);
    ASSERT_FALSE(found.empty()) << pattern;
    EXPECT_EQ(found[0].name(), name) << pattern;
    std::size_t most = 0;
    for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) most = std::max(most, graph.degree(rank));
    EXPECT_NE(found[0].name().find(fmt::format(" {} neighbours", most)), std::string::npos) << pattern;
  }
}

// Traffic of ranks in rows and columns of a torus; `partners` appends those of a place.
template <class Partners>
Traffic of_rows(std::int32_t rows, std::int32_t columns, const Partners& partners) {
  auto builder = *TrafficBuilder::make(rows * columns);
  for (std::int32_t row = 0; row < rows; ++row)
    for (std::int32_t column = 0; column < columns; ++column)
      for (const auto& [r, c] : partners(row, column)) {
        const std::int32_t to = (r + rows) % rows * columns + (c + columns) % columns;
        EXPECT_TRUE(builder.add(Rank{row * columns + column}, Rank{to}, 100, 1).ok());
      }
  return *std::move(builder).build();
}

using Places = std::vector<std::pair<std::int32_t, std::int32_t>>;

Places with_one_diagonal(std::int32_t r, std::int32_t c) {
  return {{r, c + 1}, {r, c - 1}, {r + 1, c}, {r - 1, c}, {r + 1, c - 1}, {r - 1, c + 1}};
}

TEST(Recognise, ShuffledToriWithOneDiagonal) {
  for (const auto& [rows, columns] : {std::pair{8, 8}, {5, 7}, {6, 4}, {16, 16}, {5, 12}})
    for (const std::uint64_t seed : {1, 2, 3}) {
      const TrafficGraph graph = TrafficGraph::of(with_other_numbers(of_rows(rows, columns, with_one_diagonal), seed));
      const std::vector<Lattice> found = recognise(graph);
      ASSERT_EQ(found.size(), 1U) << rows << "x" << columns;
      EXPECT_TRUE(is_permutation(found[0].place_of_rank));
      EXPECT_EQ(found[0].covered, 1);
      const std::string name = fmt::format("torus {}x{}, 6 neighbours", rows, columns);
      const std::string turned = fmt::format("torus {}x{}, 6 neighbours", columns, rows);
      EXPECT_TRUE(found[0].name() == name || found[0].name() == turned) << found[0].name();
    }
}

// The row above the last one is row 0, shifted by a twist.
TEST(Recognise, ShuffledToriWithATwistAndOneDiagonal) {
  struct Case {
    std::int32_t rows, columns, twist;
    double covered; // the greatest share of bytes between neighbours of the torus without the twist
  };
  for (const auto& [rows, columns, twist, covered] :
       {Case{6, 8, 3, 8.0 / 9}, Case{5, 9, 4, 1}, Case{8, 12, 6, 23.0 / 24}})
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const auto above = [rows = rows, twist = twist](std::int32_t r, std::int32_t c) {
        return std::pair{r, c + (r >= rows ? twist : r < 0 ? -twist : 0)};
      };
      const auto partners = [&](std::int32_t r, std::int32_t c) {
        return Places{{r, c + 1},      {r, c - 1},          above(r + 1, c),
                      above(r - 1, c), above(r + 1, c - 1), above(r - 1, c + 1)};
      };
      const TrafficGraph graph = TrafficGraph::of(with_other_numbers(of_rows(rows, columns, partners), seed));
      const std::vector<Lattice> found = recognise(graph);
      ASSERT_EQ(found.size(), 1U) << rows << "x" << columns;
      EXPECT_TRUE(is_permutation(found[0].place_of_rank));
      EXPECT_DOUBLE_EQ(found[0].covered, covered) << found[0].name();
      EXPECT_EQ(found[0].name().rfind("twisted torus ", 0), 0U) << found[0].name();
    }
}

TEST(Recognise, ShuffledRowsAndColumnsInWhichAllTalk) {
  for (const auto& [rows, columns] : {std::pair{8, 8}, {4, 4}, {3, 11}, {2, 9}, {12, 5}})
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto all = [rows = rows, columns = columns](std::int32_t r, std::int32_t c) {
        Places places;
        for (std::int32_t other = 0; other < rows; ++other)
          if (other != r) places.emplace_back(other, c);
        for (std::int32_t other = 0; other < columns; ++other)
          if (other != c) places.emplace_back(r, other);
        return places;
      };
      const TrafficGraph graph = TrafficGraph::of(with_other_numbers(of_rows(rows, columns, all), seed));
      const std::vector<Lattice> found = recognise(graph);
      ASSERT_FALSE(found.empty()) << rows << "x" << columns;
      const Lattice& lattice = found[0];
      EXPECT_TRUE(lattice.has_full_rows);
      EXPECT_TRUE(is_permutation(lattice.place_of_rank));
      for (std::int32_t rank = 0; rank < graph.ranks(); ++rank)
        for (const TrafficGraph::Edge& edge : graph.of(rank)) {
          const auto at = [&](std::int32_t of, std::int32_t axis) {
            return lattice.shape.coordinate(lattice.place_of_rank[static_cast<std::size_t>(of)], axis);
          };
          EXPECT_TRUE(at(rank, 0) == at(edge.to, 0) || at(rank, 1) == at(edge.to, 1));
        }
    }
}

// Ranks a and b, c and d talk to each other; then a and d, c and b.
Traffic with_exchanged_partners(const Traffic& traffic, std::array<std::int32_t, 4> ranks) {
  const auto& [a, b, c, d] = ranks;
  auto builder = *TrafficBuilder::make(traffic.ranks());
  for (std::int32_t rank = 0; rank < traffic.ranks(); ++rank)
    for (const Traffic::Flow& flow : traffic.from(Rank{rank})) {
      std::int32_t to = flow.to.value;
      for (const auto& [from, old, other] :
           {std::array{a, b, d}, std::array{b, a, c}, std::array{c, d, b}, std::array{d, c, a}})
        if (rank == from && flow.to.value == old) to = other;
      EXPECT_TRUE(builder.add(Rank{rank}, Rank{to}, flow.bytes, flow.messages).ok());
    }
  return *std::move(builder).build();
}

TEST(Recognise, GridsWithExchangedPartnersAreNone) {
  const auto in_rows = [](std::int32_t r, std::int32_t c) {
    Places places;
    for (std::int32_t other = 0; other < 8; ++other) {
      if (other != r) places.emplace_back(other, c);
      if (other != c) places.emplace_back(r, other);
    }
    return places;
  };
  for (const Traffic& traffic : {of_rows(8, 8, with_one_diagonal), of_rows(8, 8, in_rows)}) {
    ASSERT_EQ(recognise(TrafficGraph::of(traffic)).size(), 1U);
    for (const Lattice& lattice : recognise(TrafficGraph::of(with_exchanged_partners(traffic, {0, 1, 44, 45})))) {
      EXPECT_FALSE(lattice.has_full_rows);
      EXPECT_LT(lattice.covered, 1);
    }
  }
}

} // namespace
} // namespace kumihimo::mapping
