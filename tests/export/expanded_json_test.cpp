#include "collectives/registry.hpp"
#include "export/expanded_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace kumihimo {
namespace {

Schedule ring(std::int32_t ranks, std::int64_t count) {
  return Registry::standard()
      .find(CollectiveKind::allreduce, "ring")
      .value()
      ->build(make_collective(CollectiveKind::allreduce, ranks, count), RankSpace::row(ranks))
      .value();
}

TEST(ExpandedJson, HoldsEveryStepOfEveryRank) {
  const auto j = nlohmann::json::parse(expanded_json(ring(4, 8)).value());
  EXPECT_EQ(j["form"], "kumihimo-expanded-schedule-1");
  EXPECT_EQ(j["collective"], "allreduce");
  EXPECT_EQ(j["count"], 8);
  ASSERT_EQ(j["programs"].size(), 4u);
  for (const auto& lanes : j["programs"]) {
    ASSERT_EQ(lanes.size(), 1u);
    EXPECT_EQ(lanes[0]["segments"][0].size(), 6u); // 2 (P - 1) rounds of a send and a receive
    for (const auto& round : lanes[0]["segments"][0]) EXPECT_EQ(round.size(), 2u);
  }
  const auto& step = j["programs"][1][0]["segments"][0][0][1];
  EXPECT_EQ(step["kind"], "receive_reduce");
  EXPECT_EQ(step["peer"], 0);
  EXPECT_EQ(step["target"][1][0][1], 2); // 8 elements in 4 parts
}

// 4 ranks x 6 rounds x 2 steps = 48.
TEST(ExpandedJson, RefusesMoreStepsThanAskedForBeforeItStarts) {
  EXPECT_TRUE(expanded_json(ring(4, 8), 48).ok());
  EXPECT_FALSE(expanded_json(ring(4, 8), 47).ok());
  const auto refused = expanded_json(ring(1'000'000'000, 8));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, Error::Kind::bad_input);
  EXPECT_NE(refused.error().sentence().find("at most 4000000 steps"), std::string::npos);
}

} // namespace
} // namespace kumihimo
