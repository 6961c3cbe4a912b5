// Expressions keep their value whatever form they take: checked against plain arithmetic on random forms.
#include "base/expression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace kumihimo {
namespace {

using Values = std::vector<std::int64_t>;

// An expression and what it means, built together.
struct Pair {
  Expression form;
  std::function<std::int64_t(const Values&)> plain;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  Values trips() { return {number(1, 6), number(1, 6), number(1, 6)}; }

  Pair make(int depth) {
    switch (depth == 0 ? number(0, 1) : number(0, 5)) {
    case 0: {
      const std::int64_t k = number(-9, 9);
      return {k, [k](const Values&) { return k; }};
    }
    case 1: {
      const auto d = static_cast<std::int32_t>(number(0, 2));
      return {Variable{d}, [d](const Values& v) { return v[d]; }};
    }
    case 2: {
      Pair a = make(depth - 1), b = make(depth - 1);
      return {a.form + b.form, [a, b](const Values& v) { return a.plain(v) + b.plain(v); }};
    }
    case 3: {
      Pair a = make(depth - 1);
      const std::int64_t k = number(-4, 4);
      return {a.form * k, [a, k](const Values& v) { return a.plain(v) * k; }};
    }
    case 4: {
      Pair a = make(depth - 1);
      const std::int64_t m = number(1, 12);
      return {mod(a.form, m), [a, m](const Values& v) { return floor_mod(a.plain(v), m); }};
    }
    default: {
      Pair a = make(depth - 1);
      const std::int64_t m = number(1, 7);
      auto table = std::make_shared<Table>();
      for (std::int64_t i = 0; i < m; ++i) table->push_back(number(-5, 20));
      return {Expression::look_up(table, mod(a.form, m)),
              [a, m, table](const Values& v) { return (*table)[floor_mod(a.plain(v), m)]; }};
    }
    }
  }

 private:
  std::mt19937_64 random_;
};

void for_all(const Values& trips, const std::function<void(const Values&)>& fn) {
  for (std::int64_t s = 0; s < trips[0]; ++s)
    for (std::int64_t i = 0; i < trips[1]; ++i)
      for (std::int64_t j = 0; j < trips[2]; ++j) fn({s, i, j});
}

class RandomExpressions : public testing::TestWithParam<int> {};

TEST_P(RandomExpressions, EvaluateToTheirMeaningWithinTheirRange) {
  Generator g(GetParam());
  for (int n = 0; n < 50; ++n) {
    const Pair p = g.make(4);
    const Values trips = g.trips();
    const Range range = p.form.range(trips);
    for_all(trips, [&](const Values& v) {
      const std::int64_t value = p.form.evaluate(v);
      ASSERT_EQ(value, p.plain(v)) << p.form.text();
      ASSERT_LE(range.low, value) << p.form.text();
      ASSERT_GE(range.high, value) << p.form.text();
    });
  }
}

TEST_P(RandomExpressions, SubstitutionIsEvaluationElsewhere) {
  Generator g(1000 + GetParam());
  for (int n = 0; n < 50; ++n) {
    const Pair p = g.make(4);
    const Expression moved = p.form.substitute(Variable{1}, Variable{1} + 3);
    const Expression fixed = p.form.substitute(Variable{2}, 4);
    EXPECT_FALSE(fixed.depends_on(Variable{2}));
    for_all(g.trips(), [&](const Values& v) {
      ASSERT_EQ(moved.evaluate(v), p.plain({v[0], v[1] + 3, v[2]})) << p.form.text();
      ASSERT_EQ(fixed.evaluate(v), p.plain({v[0], v[1], 4})) << p.form.text();
    });
  }
}

TEST_P(RandomExpressions, EqualFormsHashAlikeAndDifferencesVanish) {
  Generator g(2000 + GetParam());
  for (int n = 0; n < 50; ++n) {
    const Pair a = g.make(3), b = g.make(3);
    const Expression x = a.form + b.form, y = b.form + a.form;
    EXPECT_EQ(x, y) << x.text() << " and " << y.text();
    EXPECT_EQ(x.hash(), y.hash());
    EXPECT_EQ(x - y, Expression(0));
    EXPECT_EQ(a.form + a.form, 2 * a.form);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomExpressions, testing::Range(0, 20));

TEST(Expression, ModuloIsCanonical) {
  const Variable i{1};
  EXPECT_EQ(mod(7 - i, 8), mod(7 * Expression(i) + 15, 8));
  EXPECT_EQ(mod(mod(i + 5, 24), 8), mod(i + 5, 8));
  EXPECT_EQ(mod(8 * i, 8), Expression(0));
  EXPECT_EQ(mod(mod(Expression(i) + 1, 4) * 2, 8).evaluate(Values{0, 3}), 0);
}

TEST_P(RandomExpressions, OfThemselves) {
  Generator g(3000 + GetParam());
  for (int n = 0; n < 50; ++n) {
    const Pair p = g.make(3);
    Expression twice = p.form, none = p.form, zero = p.form;
    twice += twice;
    none -= none;
    zero *= 0;
    EXPECT_EQ(twice, 2 * p.form);
    EXPECT_EQ(none, Expression(0)) << none.text();
    EXPECT_EQ(zero, Expression(0)) << zero.text();
    EXPECT_EQ(p.form.deepest() < 0, p.form.is_constant());
  }
}

TEST(Expression, MovedFromIsAConstant) {
  Expression e = Variable{1} + 3;
  const Expression kept = std::move(e);
  EXPECT_TRUE(e.is_constant()); // NOLINT: what a mistake would meet
  e = Variable{2};
  Expression other;
  other = std::move(e);
  EXPECT_EQ(other, Expression(Variable{2}));
  EXPECT_EQ(kept.evaluate(Values{0, 4}), 7);
}

TEST(Expression, Text) { EXPECT_EQ(mod(3 - Variable{1}, 8).text(), "((3 - i) mod 8)"); }

} // namespace
} // namespace kumihimo
