// Solutions are those that trying all values finds.
#include "verify/iteration_ranges.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kumihimo::verify {
namespace {

std::vector<Range> tried(const Expression& e, Range wanted, std::int64_t trip, std::vector<std::int64_t> values) {
  std::vector<Range> out;
  for (std::int64_t v = 0; v < trip; ++v) {
    values[1] = v;
    const std::int64_t x = e.evaluate(values);
    if (x < wanted.low || x > wanted.high) continue;
    out.push_back({v, v});
  }
  unite(out);
  return out;
}

TEST(Solve, RandomFormsOfOneTerm) {
  std::mt19937_64 random(11);
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int n = 0; n < 3000; ++n) {
    const Variable s{0}, i{1};
    const std::int64_t trip = number(1, 30), segment = number(0, 5);
    auto table = std::make_shared<Table>();
    for (int k = 0; k < 40; ++k) table->push_back(number(0, 10));
    Expression e = number(-9, 9) + number(-4, 4) * i + number(-3, 3) * s;
    if (number(0, 2) > 0) e = mod(e, number(1, 40)) * number(-3, 3) + number(-9, 9);
    if (number(0, 2) == 0) e = Expression::look_up(table, mod(e, 40));
    const Range wanted{number(-20, 20), number(-20, 40)};
    const std::vector<std::int64_t> values{segment, 0}, trips{6, trip};
    std::vector<Range> solved;
    append_iteration_ranges(e, 1, wanted, values, trips, solved);
    ASSERT_EQ(solved, tried(e, wanted, trip, values)) << e.text() << " in " << wanted.low << ".." << wanted.high;
  }
}

TEST(Solve, ALongLoopInNoTime) {
  std::vector<Range> solved;
  const std::vector<std::int64_t> values{0, 0}, trips{1, std::int64_t{1} << 40};
  append_iteration_ranges(mod(12'345 - Variable{1}, std::int64_t{1} << 40), 1, {7, 9}, values, trips, solved);
  EXPECT_EQ(solved, (std::vector<Range>{{12'336, 12'338}}));
}

} // namespace
} // namespace kumihimo::verify
