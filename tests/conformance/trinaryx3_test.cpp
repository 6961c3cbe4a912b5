// trinaryx3 against its golden copy, bit for bit: trees, heights and order from the published formula, elements from
// the cut of the vector. And what runs depends on the schedule alone, not on its name.
#include "cases.hpp"
#include "golden/trinaryx3.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace conformance {
namespace {

using namespace kumihimo;

struct TorusCase {
  std::vector<int> lengths;
  std::int64_t count, segments;
  int trees;
};

const std::vector<TorusCase> torus_cases = {{{2, 2, 2}, 101, 1, 3}, {{2, 2, 2}, 64, 5, 3},    {{4, 3, 2}, 29, 1, 3},
                                            {{4, 3, 2}, 250, 7, 3}, {{3, 3, 3}, 200, 3, 6},   {{3, 3, 3}, 11, 2, 3},
                                            {{5}, 40, 4, 1},        {{5}, 41, 3, 2},          {{3, 1, 4}, 77, 2, 2},
                                            {{4, 3}, 90, 4, 4},     {{2, 3, 2, 2}, 60, 2, 4}, {{3, 3, 3, 3}, 30, 1, 8},
                                            {{1, 6, 1}, 7, 1, 1},   {{4, 3, 2}, 2, 1, 3}};

Schedule build(const Variant& variant, const TorusCase& t, const Problem& q) {
  std::vector<Axis> axes;
  for (const int n : t.lengths) axes.push_back({n, true});
  Parameters p;
  p.trees = t.trees;
  p.segments = t.segments;
  const Result<Schedule> s = variant.build(q.collective, RankSpace::box(Shape(axes)), p);
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : s.error().sentence());
  return *s;
}

Problem problem(const TorusCase& t, CollectiveKind kind, const Arithmetic& arithmetic, int root) {
  int ranks = 1;
  for (const int n : t.lengths) ranks *= n;
  Problem q;
  q.collective = make_collective(kind, ranks, t.count);
  q.arithmetic = arithmetic;
  q.arithmetic.apply_to(q.collective);
  q.collective.root = Rank{kind == CollectiveKind::allreduce ? 0 : root % ranks};
  q.seed = static_cast<std::uint64_t>(t.count + root);
  return q;
}

TEST(Trinaryx3, IsItsGoldenCopyBitForBit) {
  const Arithmetic doubles = all_arithmetic()[0], floats = all_arithmetic()[1];
  for (const TorusCase& t : torus_cases)
    for (const CollectiveKind kind : {CollectiveKind::allreduce, CollectiveKind::reduce})
      for (const Arithmetic& arithmetic : {doubles, floats})
        for (const int root : {0, 7}) {
          const Variant& variant = **Registry::standard().find(kind, "trinaryx3");
          const Problem q = problem(t, kind, arithmetic, root);
          SCOPED_TRACE(fmt::format("{} on {} ranks, {} trees, {} segments, {} {}", name_of(kind), q.collective.ranks,
                                   t.trees, t.segments, t.count, arithmetic.name()));
          const Result<Answer> answer = check(build(variant, t, q), q);
          ASSERT_TRUE(answer.ok()) << answer.error().sentence();
          const Buffer golden = golden::trinary_reduction(t.lengths, q.collective.root.value, {t.trees, t.segments},
                                                          arithmetic.type, arithmetic.operation, answer->inputs);
          EXPECT_EQ(answer->outputs[static_cast<std::size_t>(q.collective.root.value)], golden);
        }
}

// The comparison above can fail: another root, another cut or another order of the trees gives other bits.
TEST(Trinaryx3, GoldenCopiesOfOtherOrdersDiffer) {
  const TorusCase t{{4, 3, 2}, 250, 7, 3};
  const Problem q = problem(t, CollectiveKind::allreduce, all_arithmetic()[0], 0);
  const Result<Answer> answer =
      check(build(**Registry::standard().find(CollectiveKind::allreduce, "trinaryx3"), t, q), q);
  ASSERT_TRUE(answer.ok());
  const auto golden = [&](int root, golden::TrinaryCut cut, const std::vector<int>& lengths) {
    return golden::trinary_reduction(lengths, root, cut, DataType::float64, Operation::sum, answer->inputs);
  };
  EXPECT_EQ(answer->outputs[0], golden(0, {3, 7}, {4, 3, 2}));
  EXPECT_NE(answer->outputs[0], golden(1, {3, 7}, {4, 3, 2}));
  EXPECT_NE(answer->outputs[0], golden(0, {3, 6}, {4, 3, 2}));
  EXPECT_NE(answer->outputs[0], golden(0, {3, 7}, {2, 3, 4}));
}

TEST(Registry, ARowUnderAnotherNameGivesTheSameBits) {
  for (const Variant* variant : Registry::standard().variants(CollectiveKind::allreduce)) {
    Registry other;
    Variant renamed = *variant;
    renamed.name = "nobody_knows_this_name";
    other.add(renamed);
    Problem q = problem({{3, 3}, 100, 1, 2}, CollectiveKind::allreduce, all_arithmetic()[0], 0);
    const auto answers = [&](const Variant& v) {
      const Result<Schedule> s = v.build(q.collective, RankSpace::box(*Shape::parse("3x3")));
      return s ? check(*s, q) : Result<Answer>(s.error());
    };
    const Result<Answer> one = answers(*variant), two = answers(**other.find(CollectiveKind::allreduce, renamed.name));
    ASSERT_EQ(one.ok(), two.ok());
    if (one.ok()) {
      EXPECT_EQ(one->outputs, two->outputs) << variant->name;
    }
  }
}

} // namespace
} // namespace conformance
