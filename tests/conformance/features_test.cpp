// Every feature of the form (local counts, tables, nested loops, iterations in flight, offload, shared scratch ...)
// runs.
#include "check.hpp"
#include "schedule_features/features.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

using namespace kumihimo;

class EveryFeature : public ::testing::TestWithParam<features::Feature> {};

TEST_P(EveryFeature, RunsToTheResultOfItsCollective) {
  const Schedule& schedule = GetParam().schedule;
  const Collective& c = schedule.collective();
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Problem q{c, {c.type, c.operation, c.type_bytes, c.commutative}, seed};
    const Result<Answer> answer = check(schedule, q);
    ASSERT_TRUE(answer.ok()) << answer.error().sentence();
  }
}

// In place, and not claimed to be safe for it: the engine copies the input aside.
TEST_P(EveryFeature, RunsInPlaceFromACopyOfTheInput) {
  Schedule schedule = GetParam().schedule;
  Collective in_place = schedule.collective();
  in_place.in_place = true;
  schedule.set_collective(in_place);
  schedule.claims.in_place_safe = false;
  const Collective& c = schedule.collective();
  const Result<Answer> answer = check(schedule, {c, {c.type, c.operation, c.type_bytes, c.commutative}, 3});
  EXPECT_TRUE(answer.ok()) << answer.error().sentence();
}

INSTANTIATE_TEST_SUITE_P(Features, EveryFeature, ::testing::ValuesIn(features::all()),
                         [](const auto& feature) { return feature.param.name; });

} // namespace
} // namespace conformance
