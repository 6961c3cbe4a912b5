// The flow model against its golden copy, the exact fluid solution.
#include "support.hpp"

namespace kumihimo::simulate_test {
namespace {

struct AccuracyCase {
  const char* algorithm;
  const char* shape;
};

class Accuracy : public testing::TestWithParam<AccuracyCase> {};

TEST_P(Accuracy, WithinTenPercentOfTheExactSolution) {
  const auto [name, shape] = GetParam();
  const Machine m = described("k-computer", shape);
  const bool large = m.topology->nodes() > 256;
  for (int exponent : {10, 14, 18, 20, 22, 24, 28}) {
    if (large && exponent == 28) continue; // bench/simulate has these
    const Schedule s = built(algorithm(name), m, std::int64_t{1} << exponent);
    const double flow = predicted(s, m).seconds.value, exact = predicted(s, m, Model::exact).seconds.value;
    EXPECT_NEAR(flow / exact, 1, 0.1) << name << " on " << shape << ", 2^" << exponent << " bytes";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, Accuracy,
    testing::Values(AccuracyCase{"trinaryx3", "4x4x4"}, AccuracyCase{"trinaryx3", "16x2x4"},
                    AccuracyCase{"trinaryx3", "8x8"}, AccuracyCase{"trinaryx3", "6x5x4"},
                    AccuracyCase{"trinaryx3", "8x8x8"}, AccuracyCase{"ring", "4x4x4"}, AccuracyCase{"ring", "16x2x4"},
                    AccuracyCase{"ring", "7x3"}, AccuracyCase{"bucket", "4x4x4"}, AccuracyCase{"bucket", "16x2x4"},
                    AccuracyCase{"bucket", "6x5x4"}, AccuracyCase{"bucket", "8x8x8"},
                    AccuracyCase{"recursive_doubling", "4x4x4"}, AccuracyCase{"recursive_doubling", "16x2x4"},
                    AccuracyCase{"recursive_doubling", "6x5x4"}, AccuracyCase{"recursive_doubling", "7x3"},
                    AccuracyCase{"recursive_doubling", "8x8x8"}),
    [](const auto& tested) { return std::string(tested.param.algorithm) + "_" + tested.param.shape; });

TEST(Golden, EveryNumberOfSegments) {
  const Machine m = described("k-computer", "4x4x4");
  for (std::int64_t segments = 1; segments <= 24; ++segments) {
    Parameters p;
    p.segments = segments;
    const Schedule s = built(algorithm("trinaryx3"), m, segments * 3 * (1 << 20), p);
    const double flow = predicted(s, m).seconds.value, exact = predicted(s, m, Model::exact).seconds.value;
    EXPECT_NEAR(flow / exact, 1, 0.1) << segments << " segments";
  }
}

// Whatever is off by more than a fifth says so of itself, by the structure of its traffic.
TEST(Golden, WhatIsFarOffIsLabelled) {
  for (const char* shape : {"3x3x3", "5x4", "7x3", "4x4m", "5x3x2"}) {
    const Machine m = described("k-computer", shape);
    const RankSpace space = m.rank_space();
    for (const Variant& variant : Registry::standard().variants()) {
      for (const std::int64_t bytes : {1 << 10, 1 << 16, 1 << 24}) {
        const auto s = variant.build(make_collective(variant.kind, space.ranks(), bytes / 8), space);
        if (!s || s->program(Rank{0}).lanes.size() > 16) continue;
        const Prediction flow = predicted(*s, m);
        const double error = flow.seconds.value / predicted(*s, m, Model::exact).seconds.value - 1;
        if (std::abs(error) <= 0.2) continue;
        EXPECT_FALSE(flow.accuracy.empty())
            << name_of(variant.kind) << " " << variant.name << " on " << shape << " " << bytes << " bytes: " << error;
      }
    }
  }
}

TEST(Golden, BothCountTheSameBytesOnEveryLink) {
  const Machine m = described("k-computer", "4x3x2");
  for (const char* name : {"trinaryx3", "recursive_doubling", "binary", "rabenseifner"}) {
    Parameters p;
    p.segment_bytes = 999;
    const Schedule s = built(algorithm(name), m, 123'456, name[0] == 'r' ? Parameters{} : p);
    const Prediction flow = predicted(s, m), exact = predicted(s, m, Model::exact);
    ASSERT_EQ(flow.link_bytes.size(), exact.link_bytes.size());
    for (std::size_t l = 0; l < flow.link_bytes.size(); ++l)
      EXPECT_NEAR(flow.link_bytes[l], exact.link_bytes[l], 1e-6 * 123'456) << name << ", link " << l;
  }
}

} // namespace
} // namespace kumihimo::simulate_test
