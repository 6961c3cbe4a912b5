// The time that the measured roofs divide by.
#include "application/machine_rates.hpp"
#include "loopback/loopback_processes.hpp"

#include <gtest/gtest.h>

namespace kumihimo::application {
namespace {

struct Interval {
  double start, end;
};

// As every rank has it.
double span_of(const std::vector<Interval>& of_ranks, const std::vector<std::int64_t>& nodes) {
  double found = 0;
  const auto ranks = static_cast<std::int32_t>(of_ranks.size());
  const auto [status, printed] = run_processes(
      ranks, false, 1,
      [&](Processes& processes) -> Status {
        const Interval& mine = of_ranks[static_cast<std::size_t>(processes.rank())];
        const double span = span_of_node(processes, mine.start, mine.end);
        if (processes.largest({span})[0] != -processes.largest({-span})[0]) return failed("the ranks differ");
        if (processes.rank() == 0) found = span;
        return Nothing{};
      },
      nodes);
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  return found;
}

// Four ranks of one second each, two of which run at a time: the slowest rank took one second, the node two.
TEST(SpanOfNode, CountsTheTurnsOfRanksThatShareAProcessor) {
  EXPECT_DOUBLE_EQ(span_of({{10, 11}, {10, 11}, {11, 12}, {11, 12}}, {0, 0, 0, 0}), 2);
  EXPECT_DOUBLE_EQ(span_of({{10, 11}}, {0}), 1);
}

TEST(SpanOfNode, NeverComparesClocksOfTwoNodes) {
  EXPECT_DOUBLE_EQ(span_of({{10, 11}, {5000, 5003}, {10.5, 12}, {5001, 5002}}, {0, 1, 0, 1}), 3);
}

} // namespace
} // namespace kumihimo::application
