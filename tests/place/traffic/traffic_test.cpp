#include "traffic/traffic.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

namespace kumihimo {
namespace {

using Flow = Traffic::Flow;

TrafficBuilder of_ranks(std::int32_t ranks) { return *TrafficBuilder::make(ranks); }

std::vector<Flow> from(const Traffic& traffic, std::int32_t rank) {
  const auto flows = traffic.from(Rank{rank});
  return {flows.begin(), flows.end()};
}

std::string refused(TrafficBuilder& builder, std::int32_t from, std::int32_t to, std::int64_t bytes,
                    std::int64_t messages = 1) {
  const Status added = builder.add(Rank{from}, Rank{to}, bytes, messages);
  return added ? "" : added.error().sentence();
}

TEST(Traffic, SumsLinesOfAPairAndLeavesOutMessagesToOneself) {
  TrafficBuilder builder = of_ranks(4);
  for (const auto& [from, to, bytes, messages] :
       {std::array{2, 1, 10, 1}, {0, 3, 5, 2}, {2, 1, 7, 3}, {1, 1, 100, 9}, {0, 1, 0, 4}, {1, 2, 0, 0}, {2, 0, 1, 1}})
    ASSERT_TRUE(builder.add(Rank{from}, Rank{to}, bytes, messages).ok());
  const Traffic traffic = *std::move(builder).build();
  EXPECT_EQ(traffic.ranks(), 4);
  EXPECT_EQ(from(traffic, 0), (std::vector<Flow>{{Rank{1}, 0, 4}, {Rank{3}, 5, 2}}));
  EXPECT_EQ(from(traffic, 1), std::vector<Flow>());
  EXPECT_EQ(from(traffic, 2), (std::vector<Flow>{{Rank{0}, 1, 1}, {Rank{1}, 17, 4}}));
  EXPECT_EQ(from(traffic, 3), std::vector<Flow>());
  EXPECT_EQ(traffic.flows(), 4);
  EXPECT_EQ(traffic.bytes(), 23);
  EXPECT_EQ(traffic.messages(), 11);
  EXPECT_EQ(traffic.self_bytes(), 100);
}

TEST(Traffic, HasTheRanksOfItsLinesWhereNobodySaysHowMany) {
  TrafficBuilder builder = *TrafficBuilder::make(std::nullopt);
  ASSERT_TRUE(builder.add(Rank{1}, Rank{0}, 3, 1).ok());
  ASSERT_TRUE(builder.add(Rank{6}, Rank{6}, 3, 1).ok());
  EXPECT_EQ((*std::move(builder).build()).ranks(), 7);
}

TEST(Traffic, RefusesLinesThatAreNone) {
  TrafficBuilder builder = of_ranks(4), any = *TrafficBuilder::make(std::nullopt), one = of_ranks(1);
  EXPECT_EQ(refused(builder, 0, 4, 1), "the rank must be 0 to 3 (got 4); the number of ranks is 4");
  EXPECT_EQ(refused(builder, -1, 3, 1), "the rank must be 0 to 3 (got -1)");
  EXPECT_EQ(refused(any, 0, most_traffic_ranks, 1), "the rank must be 0 to 16777215 (got 16777216)");
  EXPECT_EQ(refused(one, 0, 1, 1), "the rank must be 0 (got 1); the number of ranks is 1");
  EXPECT_EQ(refused(builder, 0, 1, -5), "bytes must be 0 or more (got -5)");
  EXPECT_EQ(refused(builder, 0, 1, 5, -1), "messages must be 0 or more (got -1)");
  EXPECT_EQ(refused(builder, 0, 1, most_traffic - 1), "");
  EXPECT_EQ(refused(builder, 0, 1, 2), "all lines together must have at most 2^62 bytes (got 2 more)");
  EXPECT_EQ(refused(builder, 2, 2, 2), "all lines together must have at most 2^62 bytes (got 2 more)");
  EXPECT_EQ(refused(builder, 0, 1, 1), "");
  EXPECT_EQ(refused(builder, 1, 0, 0, most_traffic - 1),
            "all lines together must have at most 2^62 messages (got 4611686018427387903 more)");
  EXPECT_EQ((*std::move(builder).build()).bytes(), most_traffic);
  for (const std::int32_t ranks : {-1, 0, most_traffic_ranks + 1}) EXPECT_FALSE(TrafficBuilder::make(ranks).ok());
  EXPECT_EQ(TrafficBuilder::make(0).error().sentence(), "the number of ranks must be 1 to 16777216 (got 0)");
}

TEST(Traffic, MustHaveBytesBetweenTwoRanks) {
  const std::string rule = "the traffic must have a line with bytes between two ranks ";
  const auto sentence = [](std::int32_t to, std::int64_t bytes, std::int64_t messages) {
    TrafficBuilder builder = of_ranks(2);
    EXPECT_TRUE(builder.add(Rank{0}, Rank{to}, bytes, messages).ok());
    const Result<Traffic> traffic = std::move(builder).build();
    return traffic ? "" : traffic.error().sentence();
  };
  EXPECT_EQ(of_ranks(2).build().error().sentence(), rule + "(got none)");
  EXPECT_EQ(sentence(0, 9, 12), rule + "(got 12 messages of ranks to themselves)");
  EXPECT_EQ(sentence(0, 9, 0), rule + "(got 9 bytes of ranks to themselves)");
  EXPECT_EQ(sentence(1, 0, 3), rule + "(got 3 messages without bytes)");
  EXPECT_EQ(sentence(1, 1, 0), "");
}

// The slow reference: a map of pairs.
TEST(Traffic, IsTheSumOfRandomLines) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const auto ranks = static_cast<std::int32_t>(random() % 12 + 2);
    TrafficBuilder builder = of_ranks(ranks);
    std::map<std::pair<Rank, Rank>, std::pair<std::int64_t, std::int64_t>> sums;
    std::int64_t self = 0;
    ASSERT_TRUE(builder.add(Rank{0}, Rank{1}, 1, 1).ok());
    sums[{Rank{0}, Rank{1}}] = {1, 1};
    for (auto lines = random() % 60; lines > 0; --lines) {
      const Rank a{static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks))},
          b{static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks))};
      const auto bytes = static_cast<std::int64_t>(random() % 1000),
                 messages = static_cast<std::int64_t>(random() % 4 + 1);
      ASSERT_TRUE(builder.add(a, b, bytes, messages).ok());
      if (a == b)
        self += bytes;
      else
        sums[{a, b}].first += bytes, sums[{a, b}].second += messages;
    }
    const Traffic traffic = *std::move(builder).build();
    std::map<std::pair<Rank, Rank>, std::pair<std::int64_t, std::int64_t>> found;
    std::int64_t bytes = 0, messages = 0;
    for (std::int32_t r = 0; r < ranks; ++r) {
      std::int32_t last = -1;
      for (const Flow& flow : traffic.from(Rank{r})) {
        EXPECT_GT(flow.to.value, last);
        last = flow.to.value;
        found[{Rank{r}, flow.to}] = {flow.bytes, flow.messages};
        bytes += flow.bytes, messages += flow.messages;
      }
    }
    EXPECT_EQ(found, sums);
    EXPECT_EQ(traffic.bytes(), bytes);
    EXPECT_EQ(traffic.messages(), messages);
    EXPECT_EQ(traffic.self_bytes(), self);
    EXPECT_EQ(traffic.flows(), static_cast<std::int64_t>(sums.size()));
  }
}

TEST(Traffic, RenumberedMovesEachFlowAndComesBack) {
  std::mt19937 random(6);
  const std::int32_t ranks = 50;
  TrafficBuilder builder = of_ranks(ranks);
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(
        builder
            .add(Rank{static_cast<std::int32_t>(random() % 50)}, Rank{static_cast<std::int32_t>(random() % 50)}, i, 1)
            .ok());
  const Traffic traffic = *std::move(builder).build();
  std::vector<std::int32_t> numbers(ranks);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), random);
  std::vector<Rank> there(ranks), back(ranks);
  for (std::int32_t r = 0; r < ranks; ++r) there[r] = Rank{numbers[r]}, back[numbers[r]] = Rank{r};
  const Traffic moved = traffic.renumbered(there);
  for (std::int32_t r = 0; r < ranks; ++r)
    for (const Flow& flow : traffic.from(Rank{r})) {
      const std::vector<Flow> at = from(moved, numbers[r]);
      EXPECT_TRUE(std::find(at.begin(), at.end(), Flow{there[flow.to.value], flow.bytes, flow.messages}) != at.end());
    }
  EXPECT_NE(moved, traffic);
  EXPECT_EQ(moved.self_bytes(), traffic.self_bytes());
  EXPECT_EQ(moved.renumbered(back), traffic);
}

} // namespace
} // namespace kumihimo
