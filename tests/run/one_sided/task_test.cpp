// Tasks of one-sided measurements: what they may say, and which ranks are measured.
#include "one_sided/backends.hpp"
#include "one_sided/task.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kumihimo::one_sided {
namespace {

using nlohmann::json;

json usual() { return {{"backend", "mpi"}, {"measured", {"put"}}, {"sizes", {8, 1 << 20}}, {"span", 65536}}; }

TEST(OneSidedTask, CoversItsLargestMessage) {
  const Result<OneSidedTask> task = one_sided_task_of(usual(), 2);
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(task->span, 1 << 20);
}

TEST(OneSidedTask, RefusesWhatCannotBeMeasured) {
  const auto refused = [](const char* name, json value, std::int32_t ranks = 2) {
    json given = usual();
    given[name] = std::move(value);
    const Result<OneSidedTask> task = one_sided_task_of(given, ranks);
    return task ? std::string() : task.error().sentence();
  };
  EXPECT_EQ(refused("window", 1, 1), "one-sided communication is measured on at least 2 ranks (got 1)");
  EXPECT_NE(refused("measured", {"putt"}).find("a measure must be one of put, "), std::string::npos);
  EXPECT_NE(refused("sizes", {6}).find("a size must be a multiple of 4"), std::string::npos);
  EXPECT_NE(refused("window", 0).find("a window must have 1 to 1048576 messages"), std::string::npos);
  EXPECT_NE(refused("case_seconds", 0.0).find("the time of a case"), std::string::npos);
}

TEST(OneSidedTask, BackEndsAreFoundByName) {
  EXPECT_TRUE(find_backend("shmem").ok());
  EXPECT_EQ(find_backend("upc").error().sentence(),
            "a back end must be one of mpi, shmem, coarrays, own, fabric (got 'upc')");
}

TEST(OneSidedTask, PairsBeginAtRank0) {
  EXPECT_EQ(pairs_of({0, 0}).size(), 1U);
  EXPECT_EQ(pairs_of({0, 1})[0].place, "network");
  const std::vector<PlacedPair> both = pairs_of({5, 7, 5});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].pair.second, 2);
  EXPECT_EQ(both[1].pair.second, 1);
}

} // namespace
} // namespace kumihimo::one_sided
