#include "goal/binary.hpp"
#include "goal/sends.hpp"
#include "goal/text.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace kumihimo::goal {
namespace {

constexpr std::string_view two_ranks = R"(num_ranks 2
// a line for itself
rank 0 { /* two
lines */
l1: calc 1000 cpu 1
l2: send 32768b to 1 tag 7 nic 2
l2 requires l1
}
rank 1 {
recv 32768b from -1 tag -1
l3: calc 5
}
)";

std::string error_of(std::string_view text) {
  const auto graphs = parse_text(text, "a.goal");
  return graphs ? "none" : graphs.error().sentence();
}

TEST(Text, HasOperationsAndWhatTheyWaitFor) {
  const auto graphs = parse_text(two_ranks, "a.goal");
  ASSERT_TRUE(graphs) << graphs.error().sentence();
  EXPECT_EQ(graphs->ranks(), 2);
  EXPECT_EQ(graphs->cpus(), 2);
  EXPECT_EQ(graphs->nics(), 3);
  EXPECT_TRUE(graphs->has_wildcards());
  const Graph& first = graphs->of(0);
  ASSERT_EQ(first.operations.size(), 2U);
  EXPECT_EQ(first.operations[0], (GraphOperation{1'000'000, any_peer, 0, 0, 0, 1, 0, Kind::calc, 1, 0}));
  EXPECT_EQ(first.operations[1], (GraphOperation{32768, 1, 7, 1, 1, 0, 0, Kind::send, 0, 2}));
  EXPECT_EQ(first.dependents, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(graphs->name_of(0, 1), "rank 0: send 'l2' (32768 bytes to rank 1, tag 7)");
  EXPECT_EQ(graphs->name_of(1, 0), "rank 1: receive operation 0 (32768 bytes from any rank, any tag)");
}

TEST(Sends, AreSummedByReceiverAndReceivesAreNone) {
  const auto graphs = parse_text("num_ranks 3\nrank 1 {\nsend 8b to 2\nsend 5b to 0\nsend 4b to 2\nrecv 9b from 0\n}\n"
                                 "rank 0 {\nrecv 5b from 1\nsend 9b to 1\n}\n"
                                 "rank 2 {\nrecv 8b from 1\nrecv 4b from 1\n}\n",
                                 "a.goal");
  ASSERT_TRUE(graphs) << graphs.error().sentence();
  EXPECT_EQ(sends_of(*graphs, 1), (std::vector<SentTo>{{0, 5, 1}, {2, 12, 2}}));
  EXPECT_EQ(sends_of(*graphs, 0), (std::vector<SentTo>{{1, 9, 1}}));
  EXPECT_TRUE(sends_of(*graphs, 2).empty());
}

TEST(Text, IsWrittenAndReadBack) {
  const auto graphs = parse_text(two_ranks, "a.goal");
  ASSERT_TRUE(graphs);
  const auto again = parse_text(text_of(*graphs), "b.goal");
  ASSERT_TRUE(again) << again.error().sentence();
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(again->of(rank).operations, graphs->of(rank).operations);
    EXPECT_EQ(again->of(rank).dependents, graphs->of(rank).dependents);
  }
}

TEST(Text, RanksThatDoTheSameShareAGraph) {
  std::string text = "num_ranks 100\n";
  for (int rank = 0; rank < 100; ++rank) {
    const auto number = [](int of) { return std::to_string(of % 100); };
    text +=
        "rank " + number(rank) + " {\nsend 8b to " + number(rank + 3) + "\nrecv 8b from " + number(rank + 97) + "\n}\n";
  }
  const auto graphs = parse_text(text, "a.goal");
  ASSERT_TRUE(graphs);
  EXPECT_EQ(graphs->different(), 1U);
  EXPECT_EQ(graphs->peer(99, graphs->of(99).operations[0].peer), 2);
  EXPECT_EQ(graphs->peer(1, graphs->of(1).operations[1].peer), 98);
}

TEST(Text, IsWhatTxt2binReads) {
  const auto graphs =
      parse_text("\xEF\xBB\xBFnum_ranks 2 rank 0 { l1: calc 5\r\nsend 8b to 1 tag 4294967303\n} rank 1 {"
                 " recv 8b from 0 tag 7\n}",
                 "a.goal");
  ASSERT_TRUE(graphs) << graphs.error().sentence();
  EXPECT_EQ(graphs->of(0).operations.size(), 2U);
  EXPECT_EQ(graphs->of(0).operations[1].tag, 7U) << "32 bits of it";
  EXPECT_EQ(graphs->of(1).operations[0].tag, 7U);
  EXPECT_EQ(error_of("num_ranks 1\nrank 0 { calc 1 calc 2\n}\n"),
            "a.goal:2: the next word must be 'tag', 'cpu', 'nic' or the end of the line (got 'calc')");
  EXPECT_EQ(error_of("num_ranks 1\nrank 0 {\nl1: calc 1\nl2: calc 1\nl2 requires l1 }\n"),
            "a.goal:5: the next word must be the end of the line (got '}')");
  EXPECT_EQ(error_of("num_ranks 99999999\n"),
            "a.goal:1: num_ranks must be a whole number from 0 to 16777216 (got '99999999')");
}

TEST(Text, ErrorsNameTheLine) {
  EXPECT_EQ(error_of(""), "a.goal: num_ranks is missing; write it in the first line: num_ranks 2");
  EXPECT_EQ(error_of("num_ranks 0\n"), "a.goal:1: num_ranks must be 1 or more (got 0)");
  EXPECT_EQ(error_of("num_ranks 2\nrank 2 {\n}\n"), "a.goal:2: the rank must be a whole number from 0 to 1 (got '2')");
  EXPECT_EQ(error_of("num_ranks 2\nrank 0 {\nsend 8b to 1 tag x\n}\n"),
            "a.goal:3: the tag must be a whole number from 0 to 18446744073709551615 (got 'x')");
  EXPECT_EQ(error_of("num_ranks 2\nrank 0 {\nsend 8b from 1\n}\n"),
            "a.goal:3: the next word must be 'to' (got 'from')");
  EXPECT_EQ(error_of("num_ranks 2\nrank 0 {\nl1: calc 1\nl1: calc 1\n}\n"),
            "a.goal:4: a label must name one operation of rank 0 (got 'l1' as in line 3)");
  EXPECT_EQ(error_of("num_ranks 2\nrank 0 {\nl1: calc 1\nl1 requires l2\n}\n"),
            "a.goal:4: a label must stand in rank 0 before it is required (got 'l2'); check its spelling");
  EXPECT_EQ(error_of("num_ranks 2\nrank 0 {\ncalc 1\n"),
            "a.goal:3: the '}' of rank 0 is missing; the file ends too early");
  EXPECT_EQ(
      error_of("num_ranks 1\nrank 0 {\nl1: calc 1\nl2: calc 1\nl1 requires l2\nl2 irequires l1\n}\n").substr(0, 58),
      "a.goal:4: an operation of rank 0 must not wait for itself ");
  EXPECT_EQ(error_of("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n"),
            "a.goal:4: each rank must have one section (got a second of 0)");
  EXPECT_EQ(error_of("/* never\n"), "a.goal:1: the end of a comment, '*/', is missing; add it");
}

TEST(Cycles, AreFoundBehindOtherOperations) {
  GraphBuilder builder;
  for (int i = 0; i < 5; ++i) builder.add({1, any_peer, 0, 0, 0, 0, 0, Kind::calc, 0, 0});
  builder.after_end(1, 0), builder.after_end(2, 1), builder.after_start(3, 2), builder.after_end(2, 3);
  builder.after_end(4, 3);
  const auto found = in_cycle(builder.finish());
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found == 2 || *found == 3) << *found;
}

// The bytes that txt2bin writes for two ranks: 0 sends 8 bytes with tag 1 to 1 after a calc of 5 ns.
class Bytes {
 public:
  template <class Number>
  Bytes& add(Number value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& operation(std::uint32_t waits, std::uint8_t kind, std::uint32_t peer, std::uint64_t size, std::uint32_t tag,
                   std::uint32_t dependents, std::uint32_t first) {
    add(waits).add(kind).add(peer).add(size).add(tag).add(std::uint8_t{0}).add(std::uint8_t{0});
    return add(dependents).add(first).add(std::uint32_t{0}).add(first + dependents);
  }
  std::string& text() { return text_; }

 private:
  std::string text_;
};

std::string binary() {
  Bytes bytes;
  constexpr std::uint64_t head = 6 + 32, first = 8 + 4 + 2 * 39 + 4, second = 8 + 4 + 39;
  bytes.add(std::uint64_t{4223}).add(std::uint32_t{2}).add(std::uint8_t{0}).add(std::uint8_t{0});
  bytes.add(head).add(head + first).add(head + first).add(head + first + second);
  bytes.add(std::uint32_t{2}).add(std::uint32_t{1}).add(std::uint32_t{0});
  bytes.operation(0, 3, 0, 5, 0, 1, 0).operation(1, 1, 1, 8, 1, 0, 1).add(std::uint32_t{1});
  bytes.add(std::uint32_t{1}).add(std::uint32_t{1}).add(std::uint32_t{0});
  bytes.operation(0, 2, 0, 8, 1, 0, 0);
  return bytes.text();
}

TEST(Binary, SaysWhatTheTextSays) {
  ASSERT_TRUE(is_binary(binary()));
  EXPECT_FALSE(is_binary(two_ranks));
  const auto graphs = parse_binary(binary(), "a.bin");
  ASSERT_TRUE(graphs) << graphs.error().sentence();
  const auto text = parse_text("num_ranks 2\nrank 0 {\na: calc 5\nb: send 8b to 1 tag 1\nb requires a\n}\n"
                               "rank 1 {\nrecv 8b from 0 tag 1\n}\n",
                               "a.goal");
  ASSERT_TRUE(text);
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(graphs->of(rank).operations, text->of(rank).operations);
    EXPECT_EQ(graphs->of(rank).dependents, text->of(rank).dependents);
  }
}

// A small file does not stand for a large program.
TEST(Binary, PartsAndDependentsAreNotUsedTwice) {
  Bytes shared;
  constexpr std::uint32_t ranks = 40;
  constexpr std::uint64_t begin = 6 + 16 * ranks, end = begin + 8 + 4 + 39;
  shared.add(std::uint64_t{4223}).add(ranks).add(std::uint8_t{0}).add(std::uint8_t{0});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) shared.add(begin).add(end);
  shared.add(std::uint32_t{1}).add(std::uint32_t{1}).add(std::uint32_t{0}).operation(0, 3, 0, 5, 0, 0, 0);
  EXPECT_EQ(parse_binary(shared.text(), "a.bin").error().problem,
            "a.bin: the parts of ranks must not lie in each other (got that of rank 13)");
  std::string twice = binary();
  constexpr std::size_t first_part = 14 + 32, started = first_part + 8 + 4 + 31; // how many wait for its first's start
  twice[started] = 1, twice[started + 4] = 0;
  EXPECT_EQ(parse_binary(twice, "a.bin").error().problem,
            "a.bin: rank 0: the operations that wait for operation 0 must be in the file");
}

// However it is cut, and whatever one byte is: a graph or an error.
TEST(Binary, IsReadWithoutTrust) {
  const std::string whole = binary();
  for (std::size_t length = 8; length < whole.size(); ++length)
    EXPECT_FALSE(parse_binary(std::string_view(whole).substr(0, length), "a.bin")) << length;
  for (std::size_t at = 8; at < whole.size(); ++at)
    for (const unsigned char value : {0, 1, 2, 7, 127, 255}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      const auto graphs = parse_binary(changed, "a.bin");
      if (graphs) continue;
      EXPECT_TRUE(graphs.error().sentence().starts_with("a.bin")) << graphs.error().sentence();
    }
}

} // namespace
} // namespace kumihimo::goal
