#include "random_traffic.hpp"
#include "traffic/text.hpp"

#include <fmt/format.h>

namespace kumihimo {
namespace {

std::string refused_text(std::string_view text) {
  const auto traffic = parse_traffic(text, "t.txt");
  return traffic ? "" : traffic.error().sentence();
}

TEST(TrafficText, ReadsLinesWithAndWithoutMessages) {
  const auto read =
      parse_traffic("# 6 lu columns: src dst bytes messages\n0 1 300 4\n\n  1\t0 20 # one\r\n0 1 5 1", "t");
  ASSERT_TRUE(read.ok()) << read.error().sentence();
  EXPECT_EQ(read->ranks(), 6);
  EXPECT_EQ(read->from(Rank{0})[0], (Traffic::Flow{Rank{1}, 305, 5}));
  EXPECT_EQ(read->from(Rank{1})[0], (Traffic::Flow{Rank{0}, 20, 1}));
  EXPECT_EQ(read->flows(), 2);
}

TEST(TrafficText, HasRanksUpToTheGreatestWithoutANumberInTheFirstLine) {
  for (const char* text : {"0 4 1", "# traffic of 9 ranks\n4 0 1\n", "#\n# 9\n0 4 1", "\n# 9\n0 4 1 1\n4 4 1"})
    EXPECT_EQ(parse_traffic(text, "t")->ranks(), 5) << text;
  EXPECT_EQ(parse_traffic("#9\n0 4 1", "t")->ranks(), 9);
  EXPECT_EQ(parse_traffic("# 9\r\n0 4 1", "t")->ranks(), 9);
}

TEST(TrafficText, RefusalsNameTheLine) {
  EXPECT_EQ(refused_text("# 4\n0 1 8\n0 2 -5 1"), "t.txt:3: bytes must be 0 or more (got -5)");
  EXPECT_EQ(refused_text("0 2 5 -1"), "t.txt:1: messages must be 0 or more (got -1)");
  EXPECT_EQ(refused_text("# 4\n0 1 8\n\n0 4 5 1"),
            "t.txt:4: the rank must be 0 to 3 (got 4); the number of ranks is 4");
  EXPECT_EQ(refused_text("0 1"), "t.txt:1: a line has sender, receiver, bytes and, if known, messages, such as "
                                 "'0 1 4096 2' (got '0 1')");
  EXPECT_EQ(refused_text("0 1 2\r\n 0 1 2 3 4 \r\n"), "t.txt:2: a line has sender, receiver, bytes and, if known, "
                                                      "messages, such as '0 1 4096 2' (got '0 1 2 3 4')");
  EXPECT_EQ(refused_text("a 1 2"), "t.txt:1: the sender must be a whole number below 2^31 (got 'a')");
  EXPECT_EQ(refused_text("0 1.5 2"), "t.txt:1: the receiver must be a whole number below 2^31 (got '1.5')");
  EXPECT_EQ(refused_text("0 1 1e6"), "t.txt:1: bytes must be a whole number below 2^63 (got '1e6')");
  EXPECT_EQ(refused_text("0 1 2 99999999999999999999"),
            "t.txt:1: messages must be a whole number below 2^63 (got '99999999999999999999')");
  EXPECT_EQ(refused_text("0 1 4611686018427387904\n1 0 1"),
            "t.txt:2: all lines together must have at most 2^62 bytes (got 1 more)");
  EXPECT_EQ(refused_text("# 0 ranks\n0 1 2"), "t.txt:1: the number of ranks must be 1 to 16777216 (got 0)");
  EXPECT_EQ(refused_text("# 99999999999\n0 1 2"),
            "t.txt:1: the number of ranks must be 1 to 16777216 (got 99999999999)");
  EXPECT_EQ(refused_text("# 2\n0 0 40 12\n"),
            "t.txt: the traffic must have a line with bytes between two ranks (got 12 "
            "messages of ranks to themselves)");
  for (const char* text : {"", "\n\n", "# 16 nothing\n"})
    EXPECT_EQ(refused_text(text), "t.txt: the traffic must have a line with bytes between two ranks (got none)");
}

TEST(TrafficText, ReadsRandomTrafficInAnyOrderOfLines) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    const Traffic traffic = random_traffic(random, {});
    std::vector<std::string> lines;
    for (std::int32_t r = 0; r < traffic.ranks(); ++r)
      for (const auto& flow : traffic.from(Rank{r}))
        lines.push_back(fmt::format("{} {} {} {}\n", r, flow.to.value, flow.bytes, flow.messages));
    std::shuffle(lines.begin(), lines.end(), random);
    std::string text = fmt::format("# {} random\n", traffic.ranks());
    for (const std::string& line : lines) text += line;
    const auto read = parse_traffic(text, "t");
    ASSERT_TRUE(read.ok()) << read.error().sentence();
    EXPECT_EQ(*read, traffic);
    // Sabotage: a file without one of its lines is other traffic.
    const auto cut = parse_traffic(std::string_view(text).substr(0, text.size() - lines.back().size()), "t");
    EXPECT_FALSE(cut.ok() && *cut == traffic);
  }
}

TEST(TrafficText, RandomBytesNeverCrashTheReader) {
  std::mt19937 random(12);
  constexpr std::string_view letters = "0123456789 \n\t#-.ae\r\xff";
  for (int trial = 0; trial < 5000; ++trial) {
    std::string text;
    for (auto i = random() % 40; i > 0; --i) text += letters[random() % letters.size()];
    const auto read = parse_traffic(text, "t.txt");
    if (read.ok())
      EXPECT_GT(read->bytes(), 0);
    else {
      const std::string sentence = read.error().sentence();
      EXPECT_EQ(sentence.substr(0, 6), "t.txt:");
      EXPECT_EQ(sentence.find_first_of("\n\r\t"), std::string::npos) << sentence;
    }
  }
}

} // namespace
} // namespace kumihimo
