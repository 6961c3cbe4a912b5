#include "measure/clock.hpp"
#include "measure/measurement.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace kumihimo::measure {
namespace {

Measurement example() {
  const std::vector<double> x = {0.1, 0.3, 0.2, 1.0 / 3, 0.25, 0.15, 7.0};
  return measurement_of(
      x, "seconds", {.machine = "test", .over = "maximum over ranks", .ranks = 4, .launches = 9, .warmup_excluded = 2});
}

TEST(Measurement, carries_the_summary) {
  const Measurement m = example();
  EXPECT_DOUBLE_EQ(m.value, 0.25);
  EXPECT_EQ(m.unit, "seconds");
  EXPECT_EQ(m.samples, 7);
  EXPECT_EQ(m.outliers, 1);
  EXPECT_DOUBLE_EQ(m.interval_low, 0.1);
  EXPECT_DOUBLE_EQ(m.interval_high, 7.0);
  EXPECT_EQ(m.provenance.ranks, 4);
}

TEST(Measurement, survives_json_text_to_the_last_bit) {
  const auto again = measurement_from_json(nlohmann::json::parse(to_json(example()).dump()));
  ASSERT_TRUE(again.ok()) << again.error().sentence();
  EXPECT_EQ(*again, example());
}

TEST(Measurement, says_what_is_missing_or_wrong) {
  for (const char* key : {"value", "unit", "samples", "provenance"}) {
    nlohmann::json json = to_json(example());
    json.erase(key);
    const auto result = measurement_from_json(json);
    ASSERT_FALSE(result.ok()) << key;
    EXPECT_NE(result.error().sentence().find(std::string("'") + key + "'"), std::string::npos);
  }
  nlohmann::json json = to_json(example());
  json["provenance"]["ranks"] = "four";
  const auto result = measurement_from_json(json);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().sentence().find("'ranks' is \"four\""), std::string::npos);
  EXPECT_FALSE(measurement_from_json(nlohmann::json::array()).ok());
}

TEST(Clock, never_runs_backwards_and_knows_its_cost) {
  std::int64_t previous = now_ns();
  for (int i = 0; i < 10000; ++i) {
    const std::int64_t now = now_ns();
    ASSERT_GE(now, previous);
    previous = now;
  }
  const ClockFacts facts = measure_clock();
  EXPECT_GT(facts.overhead_ns, 0.0);
  EXPECT_GT(facts.resolution_ns, 0.0);
  EXPECT_LT(facts.overhead_ns, 1e5);
  EXPECT_FALSE(is_measurable(facts.overhead_ns, facts));
  EXPECT_TRUE(is_measurable(1e9, facts));
}

} // namespace
} // namespace kumihimo::measure
