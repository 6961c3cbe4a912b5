// Every feature of the form is understood: its schedule is proved, and every sabotage of it is found.
#include "sabotage/sabotage.hpp"
#include "schedule_features/features.hpp"
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

TEST(SharedScratch, LateReadersOfReusedSlotsAreADeadlock) {
  int tried = 0;
  for (const features::Feature& feature : features::all())
    for (const Sabotage& s : sabotages()) {
      if (s.name != "late_readers") continue;
      const auto wrong = s.apply(feature.schedule);
      if (!wrong) continue;
      ++tried;
      VerifyOptions sampled;
      sampled.most_exact_steps = 0;
      for (const VerifyOptions& options : {VerifyOptions{}, sampled}) {
        const Report report = check(*wrong, options);
        ASSERT_FALSE(report.ok()) << feature.name;
        const Finding& finding = report.findings.front();
        EXPECT_EQ(finding.check, Check::deadlock) << report.text();
        EXPECT_GE(finding.place.rank, 0);
        EXPECT_GE(finding.place.lane, 0);
        EXPECT_GE(finding.place.segment, 0);
        EXPECT_GE(finding.place.step, 0) << report.text();
      }
    }
  EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(Features, EveryFeature, testing::ValuesIn(features::all()),
                         [](const auto& feature) { return feature.param.name; });

} // namespace
} // namespace kumihimo::verify
