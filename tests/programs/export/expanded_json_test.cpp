#include "collectives/registry.hpp"
#include "export/json.hpp"
#include "program/builder.hpp"

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

TEST(ExpandedJson, OfProgramsHasAFormOfItsOwn) {
  const Schedule s = ring(4, 8);
  const auto j = nlohmann::json::parse(expanded_json(s, "ring").value());
  EXPECT_EQ(j["form"], "kumihimo-expanded-programs-1");
  EXPECT_EQ(j["programs"], nlohmann::json::parse(expanded_json(s).value())["programs"]);
}

TEST(ExpandedJson, HoldsEveryStepOfEveryRank) {
  const auto j = nlohmann::json::parse(expanded_json(ring(4, 8)).value());
  EXPECT_EQ(j["form"], "kumihimo-expanded-schedule-2");
  EXPECT_EQ(j["collective"], "allreduce");
  EXPECT_EQ(j["count"], 8);
  ASSERT_EQ(j["programs"].size(), 4u);
  for (const auto& lanes : j["programs"]) {
    ASSERT_EQ(lanes.size(), 1u);
    EXPECT_EQ(lanes[0]["segments"][0].size(), 6u); // 2 (P - 1) rounds of a send and a receive
    for (const auto& round : lanes[0]["segments"][0]) EXPECT_EQ(round["steps"].size(), 2u);
  }
  const auto& step = j["programs"][1][0]["segments"][0][0]["steps"][1];
  EXPECT_EQ(step["kind"], "receive_reduce");
  EXPECT_EQ(step["peer"], 0);
  EXPECT_EQ(step["target"][1][0][1], 2); // 8 elements in 4 parts
}

// A loop with iterations in flight stays one, so that a reader sees what may run at once; so do gaps.
TEST(ExpandedJson, KeepsIterationsInFlightAndGaps) {
  Schedule s(make_collective(CollectiveKind::bcast, 2, 12));
  s.program = [](Rank r) {
    ProgramBuilder program;
    LaneBuilder lane(LaneId{0}, "", 1);
    lane.loop(
        3,
        [&](BodyBuilder& b, Variable i) {
          b.round({r.value == 0 ? send(1, in[part(i, 3)]) : receive(0, out[part(i, 3)])}, 64);
        },
        2);
    lane.loop(2, [&](Variable) { return Round{{signal(1 - r.value), wait_signal(1 - r.value)}, 0}; });
    program.add(std::move(lane));
    return program.finish();
  };
  const auto j = nlohmann::json::parse(expanded_json(s).value());
  const auto& items = j["programs"][0][0]["segments"][0];
  ASSERT_EQ(items.size(), 3u) << "the loop, and two rounds of one that is sequential";
  EXPECT_EQ(items[0]["in_flight"], 2);
  ASSERT_EQ(items[0]["iterations"].size(), 3u);
  EXPECT_EQ(items[0]["iterations"][2][0]["gap_bytes"], 64);
  EXPECT_EQ(items[0]["iterations"][2][0]["steps"][0]["source"][1][0][0], 8);
  EXPECT_FALSE(items[1].contains("gap_bytes"));
}

TEST(ExpandedJson, KeepsApartWhatStartsTogether) {
  Schedule s(make_collective(CollectiveKind::alltoall, 3, 1));
  s.program = [](Rank r) {
    ProgramBuilder program;
    LaneBuilder lane(LaneId{0}, "", 1);
    lane.together([&](BodyBuilder& both) {
      both.loop(
          2,
          [&](Variable i) {
            return Round{{wait_signal(mod(r.value - 1 - i, 3))}, 0};
          },
          2);
      both.loop(2, [&](Variable i) { return Round{{signal(mod(r.value + 1 + i, 3))}, 0}; });
    });
    program.add(std::move(lane));
    return program.finish();
  };
  const auto j = nlohmann::json::parse(expanded_json(s).value());
  const auto& items = j["programs"][0][0]["segments"][0];
  ASSERT_EQ(items.size(), 1u);
  const auto& together = items[0]["together"];
  ASSERT_EQ(together.size(), 2u);
  EXPECT_EQ(together[0][0]["in_flight"], 2);
  EXPECT_EQ(together[0][0]["iterations"].size(), 2u);
  ASSERT_EQ(together[1].size(), 2u) << "rounds of a loop that is sequential";
  EXPECT_EQ(together[1][1]["steps"][0]["peer"], 2);
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
