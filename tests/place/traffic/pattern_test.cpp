#include "traffic/pattern.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace kumihimo {
namespace {

std::string refused_pattern(std::string_view text) {
  const auto pattern = GridPattern::parse(text);
  return pattern ? "" : pattern.error().sentence();
}

Traffic of_pattern(std::string_view text) {
  const auto pattern = GridPattern::parse(text);
  if (!pattern) ADD_FAILURE() << text << ": " << pattern.error().sentence();
  return traffic_of(*pattern);
}

// "src dst bytes messages" of all flows, by sender and receiver, through FNV-1a of 64 bits.
std::uint64_t hash_of_lines(const Traffic& traffic) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (std::int32_t r = 0; r < traffic.ranks(); ++r)
    for (const auto& flow : traffic.from(Rank{r}))
      for (const char c : fmt::format("{} {} {} {}\n", r, flow.to.value, flow.bytes, flow.messages))
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

TEST(GridPattern, IsReadWithItsWords) {
  const GridPattern plain = *GridPattern::parse("16x16x8:27");
  EXPECT_EQ(plain.shape.text(), "16x16x8");
  EXPECT_EQ(plain.points, 27);
  EXPECT_EQ(plain.bytes_by_axes, (std::array<std::int64_t, 4>{32768, 512, 8, 8}));
  const GridPattern all = *GridPattern::parse("4x3mx2:27,corner=0,edge=1MiB,face=7,mesh");
  EXPECT_EQ(all.shape.text(), "4mx3mx2m");
  EXPECT_EQ(all.bytes_by_axes, (std::array<std::int64_t, 4>{7, 1 << 20, 0, 0}));
  EXPECT_EQ(GridPattern::parse("4x3mx2x2:9,face=3B")->shape.text(), "4x3mx2x2");
}

TEST(GridPattern, RefusalsNameTheWord) {
  EXPECT_EQ(refused_pattern("16x16"), "a grid pattern must be a shape and a number of points (got '16x16'); write for "
                                      "example 16x16x16:27,face=32KiB");
  EXPECT_EQ(refused_pattern("16x16:7"), "the points of 2 axes must be 5 or 9 (got '7'); write for example "
                                        "16x16x16:27,face=32KiB");
  EXPECT_EQ(refused_pattern("16:5").substr(0, 40), "the points of 1 axis must be 3 (got '5')");
  EXPECT_EQ(refused_pattern("4x4x4x4:27").substr(0, 47), "the points of 4 axes must be 9 or 81 (got '27')");
  EXPECT_EQ(refused_pattern("2x2x2x2x2:11"), "a grid pattern must have 1 to 4 axes (got 5)");
  EXPECT_EQ(refused_pattern("1x1:5"), "a grid pattern must have 2 to 16777216 ranks (got 1)");
  EXPECT_EQ(refused_pattern("8192x8192:5"), "a grid pattern must have 2 to 16777216 ranks (got 67108864)");
  EXPECT_EQ(refused_pattern("4x4:5,edge=3"),
            "4x4:5 has no neighbours that differ in 2 coordinates (got 'edge=3'); leave it out");
  EXPECT_EQ(refused_pattern("4x4:9,corner=3"),
            "4x4:9 has no neighbours that differ in 3 coordinates (got 'corner=3'); leave it out");
  EXPECT_EQ(refused_pattern("4x4:9,face=0"), "face must be 1 to 2^40 bytes, such as 512 or 32KiB (got '0')");
  for (const char* size : {"-1", "", "x", "1KB", "1.5KiB", "2048GiB", "99999999999999999999"})
    EXPECT_EQ(refused_pattern(fmt::format("4x4:9,edge={}", size)),
              fmt::format("edge must be 0 to 2^40 bytes, such as 512 or 32KiB (got '{}')", size));
  for (const char* word : {"", "torus", "mesh=1", "Face=3"})
    EXPECT_EQ(refused_pattern(fmt::format("4x4:9,{}", word)),
              fmt::format("unknown word of a grid pattern (got '{}'); use face=, edge=, corner= or mesh", word));
  EXPECT_EQ(refused_pattern("4x4:9,mesh,mesh"),
            "a grid pattern takes face, edge, corner and mesh once each (got 'mesh' again); leave it out");
  EXPECT_EQ(refused_pattern("4096x4096:9,face=1KiB,edge=1KiB"), "");
  EXPECT_EQ(refused_pattern("256x256x256:27"),
            "a grid pattern must have at most 134217728 pairs of neighbours (got 436207616)");
  EXPECT_EQ(refused_pattern("4096x4096:5,face=1024GiB"),
            "a grid pattern must have at most 2^62 bytes in all (got 16777216 ranks of 4398046511104)");
  EXPECT_FALSE(refused_pattern("0x4:5").empty());
}

// The lines that bench's generator of these graphs writes (halo2d_32, halo3d_16 and halo27_16 before shuffling).
TEST(GridPattern, IsTheHaloOfTheBenchmarkGraphs) {
  EXPECT_EQ(hash_of_lines(of_pattern("32x32:5")), 0x7dc753ddb5c49fdfU);
  EXPECT_EQ(hash_of_lines(of_pattern("16x16x16:7")), 0xa70539662cc00e6dU);
  EXPECT_EQ(hash_of_lines(of_pattern("16x16x16:27")), 0x1f8309c95ffdfd95U);
  EXPECT_EQ(hash_of_lines(of_pattern("5x2x3:27,mesh")), 0xaa7396c5d94e6075U);
}

// The definition, by coordinates of all pairs of ranks and all turns around short axes.
std::map<std::int32_t, Traffic::Flow> flows_of(const GridPattern& p, std::int32_t from) {
  std::map<std::int32_t, Traffic::Flow> flows;
  const Coordinates here = p.shape.coordinates(from);
  for (std::int32_t to = 0; to < p.shape.places(); ++to) {
    const Coordinates there = p.shape.coordinates(to);
    // ways[k]: directions that lead there and change k coordinates, axis by axis.
    std::array<std::int64_t, 5> ways = {1};
    for (std::int32_t a = 0; a < p.shape.dimensions(); ++a) {
      std::array<std::int64_t, 5> longer = {};
      for (int step = -1; step <= 1; ++step) {
        std::int32_t c = here[a] + step;
        if (p.shape.axes()[a].wraps) c = (c + p.shape.length(a)) % p.shape.length(a);
        if (c != there[a]) continue;
        for (std::size_t k = 0; k < 4; ++k) longer[k + (step != 0)] += ways[k];
      }
      ways = longer;
    }
    for (std::size_t k = 1; k <= 4; ++k) {
      if (ways[k] == 0 || (k > 1 && p.points == 2 * p.shape.dimensions() + 1) || p.bytes_by_axes[k - 1] == 0) continue;
      Traffic::Flow& flow = flows[to];
      flow.to = Rank{to};
      flow.bytes += ways[k] * p.bytes_by_axes[k - 1];
      flow.messages += ways[k];
    }
  }
  return flows;
}

TEST(GridPattern, SendsToItsNeighboursOnRandomGrids) {
  std::mt19937 random(31);
  for (int trial = 0; trial < 150; ++trial) {
    const auto d = random() % 4 + 1;
    std::vector<Axis> axes;
    for (std::size_t a = 0; a < d; ++a)
      axes.push_back({static_cast<std::int32_t>(random() % 4 + (a == 0 ? 2 : 1)), random() % 3 > 0});
    const bool diagonals = random() % 2 == 0;
    int all = 1;
    for (std::size_t a = 0; a < d; ++a) all *= 3;
    std::string text = fmt::format("{}:{},face={}", Shape(axes).text(), diagonals ? all : static_cast<int>(2 * d + 1),
                                   random() % 100 + 1);
    if (diagonals && d > 1) text += fmt::format(",edge={}", random() % 3 * 7);
    if (diagonals && d > 2) text += fmt::format(",corner={}", random() % 3 * 5);
    const auto pattern = GridPattern::parse(text);
    ASSERT_TRUE(pattern.ok()) << text << ": " << pattern.error().sentence();
    const Traffic traffic = traffic_of(*pattern);
    ASSERT_EQ(traffic.ranks(), pattern->shape.places());
    std::int64_t self = 0;
    for (std::int32_t r = 0; r < traffic.ranks(); ++r) {
      auto wanted = flows_of(*pattern, r);
      if (const auto own = wanted.find(r); own != wanted.end()) self += own->second.bytes, wanted.erase(own);
      std::map<std::int32_t, Traffic::Flow> found;
      for (const auto& flow : traffic.from(Rank{r})) found[flow.to.value] = flow;
      EXPECT_EQ(found, wanted) << text << " rank " << r;
    }
    EXPECT_EQ(traffic.self_bytes(), self) << text;
  }
}

} // namespace
} // namespace kumihimo
