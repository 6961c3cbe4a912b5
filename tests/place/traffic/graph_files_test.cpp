// Graph files of METIS and of Scotch.
#include "random_traffic.hpp"
#include "traffic/metis.hpp"
#include "traffic/scotch.hpp"

#include <fmt/format.h>

#include <numeric>

namespace kumihimo {
namespace {

using Parse = Result<Traffic> (*)(std::string_view, std::string_view);

std::string refusal(Parse parse, std::string_view text) {
  const auto traffic = parse(text, "g");
  return traffic ? "" : traffic.error().sentence();
}
std::string metis_refusal(std::string_view text) { return refusal(parse_metis, text); }
std::string scotch_refusal(std::string_view text) { return refusal(parse_scotch_graph, text); }

Traffic read(Parse parse, std::string_view text) {
  auto traffic = parse(text, "g");
  if (traffic) return *std::move(traffic);
  ADD_FAILURE() << traffic.error().sentence() << "\n" << text;
  TrafficBuilder builder = *TrafficBuilder::make(2);
  EXPECT_TRUE(builder.add(Rank{0}, Rank{1}, 1, 1).ok());
  return *std::move(builder).build();
}

// A path of four ranks with these bytes each way.
Traffic path(std::array<std::int64_t, 3> bytes) {
  TrafficBuilder builder = *TrafficBuilder::make(4);
  for (std::int32_t r = 0; r < 3; ++r)
    for (const bool back : {false, true})
      EXPECT_TRUE(builder.add(Rank{r + back}, Rank{r + !back}, bytes[static_cast<std::size_t>(r)], 1).ok());
  return *std::move(builder).build();
}

TEST(MetisGraph, IsReadInAllFormats) {
  for (const char* text :
       {"4 3\n2\n1 3\n2 4\n3\n", "% path\n4 3 0\n2\n%\n3 1\n4 2\n3", "4 3 10\n7 2\n7 1 3\n7 2 4\n0 3\n",
        "4 3 100\n9 2\n9 1 3\n9 2 4\n9 3\n", "4 3 110 2\n9 7 7 2\n9 7 7 1 3\n9 7 7 2 4\n9 7 7 3\n\n"})
    EXPECT_EQ(read(parse_metis, text), path({1, 1, 1})) << text;
  for (const char* text :
       {"4 3 1\n2 5\n1 5 3 60\n4 700 2 60\n3 700\n", "4\t3 001 \r\n2 5\r\n1 5 3 60\r\n2 60 4 700\r\n3 700",
        "4 3 011 1\n1 2 5\n1 1 5 3 60\n1 2 60 4 700\n1 3 700\n \n%\n",
        "4 3 111 3\n1 0 0 0 2 5\n1 0 0 0 1 5 3 60\n1 0 0 0 2 60 4 700\n1 0 0 0 3 700\n"})
    EXPECT_EQ(read(parse_metis, text), path({5, 60, 700})) << text;
}

TEST(MetisGraph, KeepsVerticesWithoutNeighbours) {
  const Traffic traffic = read(parse_metis, "4 1\n\n3\n2\n\n");
  EXPECT_EQ(traffic.ranks(), 4);
  EXPECT_EQ(traffic.flows(), 2);
}

TEST(MetisGraph, RefusalsNameTheLine) {
  const std::string head =
      "the head must be vertices, edges, format and weights of a vertex, such as '4096 53248 001' ";
  EXPECT_EQ(metis_refusal(""), "g: " + head + "(got an empty file)");
  for (const char* text : {"4", "4 3 1 1 1", "a 3", "4 b", "4 -3", "-4 3", "4.5 3"})
    EXPECT_EQ(metis_refusal(std::string("%\n") + text), "g:2: " + head + "(got '" + text + "')");
  EXPECT_EQ(metis_refusal("0 0"), "g:1: the number of vertices must be 1 to 16777216 (got 0)");
  EXPECT_EQ(metis_refusal("4 3 2"), "g:1: the format must be three digits of 0 and 1, such as 001 (got '2')");
  EXPECT_EQ(metis_refusal("4 3 0001"), "g:1: the format must be three digits of 0 and 1, such as 001 (got '0001')");
  EXPECT_EQ(metis_refusal("4 3 1 2"), "g:1: the number of weights of a vertex must be 1 to 1000000, with a format such "
                                      "as 011 (got '2' with format 1)");
  EXPECT_TRUE(metis_refusal("4 3 110 9223372036854775807").starts_with("g:1: the number of weights of a vertex must"));
  EXPECT_EQ(metis_refusal("a\r3\r"), "g:1: " + head + "(got 'a 3')");
  EXPECT_EQ(metis_refusal("2 1\n2\n1\n1\r\v1\n"), "g:4: the graph ends after the lines of its 2 vertices (got '1  1')");
  EXPECT_EQ(metis_refusal("4 3 10 0").substr(0, 4), "g:1:");
  EXPECT_EQ(metis_refusal("4 3\n2\n1 3\n2 4\n"), "g:1: the graph must have a line for each of its 4 vertices (got 3)");
  EXPECT_EQ(metis_refusal("2 1\n2\n1\n\n1\n"), "g:5: the graph ends after the lines of its 2 vertices (got '1')");
  EXPECT_EQ(metis_refusal("2 1\n2\n1x\n"), "g:3: the line of a vertex must have whole numbers (got '1x')");
  EXPECT_EQ(metis_refusal("2 1 1\n2 5\n1\n"),
            "g:3: each neighbour must be followed by the weight of the edge (got 1 numbers)");
  EXPECT_EQ(metis_refusal("2 1 110 3\n1 1 1\n1\n"),
            "g:2: the line of a vertex must begin with 4 weights or sizes (got 3)");
  EXPECT_EQ(metis_refusal("2 1\n3\n1\n"), "g:2: a neighbour must be 1 to 2 (got 3)");
  EXPECT_EQ(metis_refusal("2 1\n0\n1\n"), "g:2: a neighbour must be 1 to 2 (got 0)");
  EXPECT_EQ(metis_refusal("2 1\n2\n2\n"), "g:3: an edge must have two different ends (got 2-2); leave it out");
  EXPECT_EQ(metis_refusal("2 1 1\n2 0\n1 0\n"), "g:2: the weight of an edge must be 1 or more (got 0)");
  EXPECT_EQ(metis_refusal("2 2\n2 2\n1 1\n"),
            "g:2: a vertex must name each neighbour once (got 2 twice); add the weights");
  EXPECT_EQ(metis_refusal("%\n3 2\n2\n%\n1 3\n\n"),
            "g:5: edge 2-3 must have its mirror 3-2 in line 6 with the same weight; "
            "METIS graphs are undirected");
  EXPECT_EQ(metis_refusal("3 2 1\n2 5\n1 5 3 6\n2 7\n"),
            "g:3: edge 2-3 must have its mirror 3-2 in line 4 with the same weight "
            "(got weights 6 and 7); METIS graphs are undirected");
  EXPECT_EQ(metis_refusal("3 3\n2\n1 3\n2\n"), "g:1: the head must give the number of edges, 2 (got 3)");
  EXPECT_EQ(metis_refusal("3 0\n\n\n\n"), "g: the traffic must have a line with bytes between two ranks (got none)");
  EXPECT_EQ(metis_refusal("2 1 1\n2 4611686018427387904\n1 4611686018427387904\n"),
            "g:3: all lines together must have at most 2^62 bytes (got 4611686018427387904 more)");
}

TEST(ScotchGraph, IsReadInAllFormats) {
  for (const char* text :
       {"0\n4 6\n0 000\n1 1\n2 0 2\n2 1 3\n1 2\n", "0 4 6 1 0 1 2 2 1 3 2 2 4 1 3",
        "0\n4\t6\n0\t001\n9 1 1\n9 2 0 2\n9 2 3 1\n9 1 2\n", "0\n4 6\n0 100\n3 1 2\n1 2 0 2\n2 2 1 3\n0 1 1\n",
        "0\n4 6\n1 101\n4 9 1 3\n2 9 2 1 3\n3 9 2 2 4\n1 9 1 2\n"})
    EXPECT_EQ(read(parse_scotch_graph, text), path({1, 1, 1})) << text;
  for (const char* text : {"0\n4 6\n0 010\n1 5 1\n2 5 0 60 2\n2 60 1 700 3\n1 700 2\n",
                           "0\r\n4 6\r\n1 11\r\n9 1 5 2\r\n9 2 60 3 5 1\r\n9 2 60 2 700 4\r\n9 1 700 3\r\n"})
    EXPECT_EQ(read(parse_scotch_graph, text), path({5, 60, 700})) << text;
}

TEST(ScotchGraph, RefusalsNameTheLine) {
  EXPECT_EQ(scotch_refusal(""), "g:1: the version of a Scotch graph is missing; the file ends too early");
  EXPECT_EQ(scotch_refusal("1\n2 2"), "g:1: the version of a Scotch graph must be 0 (got 1)");
  EXPECT_EQ(scotch_refusal("0\n0 2"), "g:2: the number of vertices must be 1 to 16777216 (got 0)");
  EXPECT_EQ(scotch_refusal("0\n2 x"), "g:2: the number of edges must be a whole number below 2^63 (got 'x')");
  EXPECT_EQ(scotch_refusal("0\n2 2\n2 0"), "g:3: the number of the first vertex must be 0 to 1 (got 2)");
  EXPECT_EQ(scotch_refusal("0\n2 2\n0 3"), "g:3: the format must be three digits of 0 and 1, such as 010 (got '3')");
  EXPECT_EQ(scotch_refusal("0\n2 2\n0 0\n1 1\n2 0"), "g:5: the number of neighbours must be 0 to 1 (got 2)");
  EXPECT_EQ(scotch_refusal("0\n2 2\n0 0\n1 1\n1 "), "g:5: a neighbour is missing; the file ends too early");
  EXPECT_EQ(scotch_refusal("0\n2 2\n0 0\n1 1\n1 2"), "g:5: a neighbour must be 0 to 1 (got 2)");
  EXPECT_EQ(scotch_refusal("0\n2 2\n0 0\n1 1\n1 1"),
            "g:5: an edge must have two different ends (got 1-1); leave it out");
  EXPECT_EQ(scotch_refusal("0\n2 2\n0 0\n1 1\n1 0\n\n7"), "g:7: the graph ends after its 2 vertices (got '7')");
  EXPECT_EQ(scotch_refusal("0\n2 2\n0 10\n1 -4 1\n1 -4 0"), "g:4: the weight of an edge must be 1 or more (got -4)");
  EXPECT_EQ(scotch_refusal("0\n2 2\n0 100\n2 1 1\n0 1 0"), "g:4: a label must be 0 to 1 (got 2)");
  EXPECT_EQ(scotch_refusal("0\n2 2\n0 100\n1 1 0\n1 1 0"),
            "g:5: each vertex must have a label of its own (got 1 as in line 4)");
  EXPECT_EQ(scotch_refusal("0\n2 1\n0 0\n1 1\n1 0"),
            "g:2: the head must give the number of edges at both of their ends, 2 (got 1)");
  EXPECT_EQ(
      scotch_refusal("0\n3 4\n0 10\n1 5 1\n2 5 0 6 2\n1 7 1"),
      "g:5: edge 1-2 must have its mirror 2-1 in line 6 with the same weight (got weights 6 and 7); Scotch graphs are "
      "undirected");
  EXPECT_EQ(scotch_refusal("0\n3 3\n1 0\n1 2\n2 1 3\n0"),
            "g:5: edge 2-3 must have its mirror 3-2 in line 6 with the same weight; Scotch graphs are undirected");
}

struct Written {
  std::string metis, scotch;
};

// Each vertex with its neighbours in random order; Scotch's vertices in random order, too, by their labels.
Written written(const Traffic& traffic, std::mt19937& random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(traffic.ranks()));
  std::iota(order.begin(), order.end(), 0);
  std::string metis = fmt::format("{} {} 001\n", traffic.ranks(), traffic.flows() / 2);
  const auto neighbours = [&](std::int32_t rank) {
    const auto flows = traffic.from(Rank{rank});
    std::vector<Traffic::Flow> shuffled(flows.begin(), flows.end());
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    return shuffled;
  };
  for (const std::int32_t rank : order) {
    for (const auto& flow : neighbours(rank)) metis += fmt::format("{} {} ", flow.to.value + 1, flow.bytes);
    metis += '\n';
  }
  std::shuffle(order.begin(), order.end(), random);
  std::string scotch = fmt::format("0\n{} {}\n0 110\n", traffic.ranks(), traffic.flows());
  for (const std::int32_t rank : order) {
    scotch += fmt::format("{} {}", rank, traffic.from(Rank{rank}).size());
    for (const auto& flow : neighbours(rank)) scotch += fmt::format("\t{} {}", flow.bytes, flow.to.value);
    scotch += '\n';
  }
  return {metis, scotch};
}

TEST(GraphFiles, OfRandomTrafficAreReadAsItIs) {
  std::mt19937 random(21);
  for (int trial = 0; trial < 200; ++trial) {
    const Traffic traffic = random_traffic(random, {20, true});
    const Written files = written(traffic, random);
    EXPECT_EQ(read(parse_metis, files.metis), traffic);
    EXPECT_EQ(read(parse_scotch_graph, files.scotch), traffic);
  }
}

// Sabotage: one number of a file becomes another one. It is refused, with a line, or was a number that is not read.
TEST(GraphFiles, WithOneChangedWeightOrNeighbourAreRefused) {
  std::mt19937 random(22);
  const auto change = [&](Parse parse, std::string text, std::size_t head_lines) {
    std::size_t body = 0;
    for (std::size_t line = 0; line < head_lines; ++line) body = text.find('\n', body) + 1;
    std::vector<std::size_t> digits;
    for (std::size_t i = body; i < text.size(); ++i)
      if (text[i] >= '0' && text[i] <= '9') digits.push_back(i);
    char& digit = text[digits[random() % digits.size()]];
    digit = static_cast<char>('0' + (digit - '0' + 1 + static_cast<int>(random() % 9)) % 10);
    const auto traffic = parse(text, "g");
    ASSERT_FALSE(traffic.ok()) << text;
    EXPECT_EQ(traffic.error().sentence().substr(0, 2), "g:") << traffic.error().sentence();
  };
  for (int trial = 0; trial < 300; ++trial) {
    const Written files = written(random_traffic(random, {20, true}), random);
    change(parse_metis, files.metis, 1);
    change(parse_scotch_graph, files.scotch, 3);
  }
}

TEST(GraphFiles, RandomBytesNeverCrashTheReaders) {
  std::mt19937 random(23);
  constexpr std::string_view letters = "0123 1111\n\n\t%-x\r\xff";
  for (int trial = 0; trial < 5000; ++trial) {
    std::string text = trial % 2 == 0 ? "2 1 1\n" : "0\n2 2\n0 010\n";
    for (auto i = random() % 30; i > 0; --i) text += letters[random() % letters.size()];
    for (const Parse parse : {parse_metis, parse_scotch_graph}) {
      const auto traffic = parse(text, "g");
      EXPECT_EQ(traffic ? "g" : traffic.error().sentence().substr(0, 1), "g");
    }
  }
}

} // namespace
} // namespace kumihimo
