// Every feature of the form is understood: its schedule is proved, and every sabotage of it is found.
#include "schedule_features/features.hpp"
#include "verify/sabotage.hpp"
#include "verify/verify.hpp"

#include <gtest/gtest.h>

namespace kumihimo::verify {
namespace {

class EveryFeature : public testing::TestWithParam<features::Feature> {};

TEST_P(EveryFeature, IsProved) {
  const Report report = check(GetParam().schedule);
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_TRUE(report.coverage.exact);
  EXPECT_GT(report.coverage.executed, 0);
}

TEST_P(EveryFeature, SabotagesAreFound) {
  for (const Sabotage& s : sabotages()) {
    const auto wrong = s.apply(GetParam().schedule);
    if (!wrong) continue;
    const Report report = check(*wrong);
    EXPECT_FALSE(report.ok()) << s.name;
    if (report.ok()) continue;
    EXPECT_GE(report.findings.front().place.rank, 0) << s.name << ": " << report.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Features, EveryFeature, testing::ValuesIn(features::all()),
                         [](const auto& feature) { return feature.param.name; });

} // namespace
} // namespace kumihimo::verify
