// Every registered algorithm is proved on small shapes.
#include "collectives/registry.hpp"
#include "verify/verify.hpp"

#include <gtest/gtest.h>

namespace kumihimo::verify {
namespace {

struct Case {
  std::string shape;
  std::int64_t count;
  std::optional<std::int64_t> segments;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.shape << " count " << c.count; }

class EveryAlgorithm : public testing::TestWithParam<Case> {};

TEST_P(EveryAlgorithm, IsProved) {
  const Case& k = GetParam();
  const RankSpace space = RankSpace::box(*Shape::parse(k.shape));
  int proved = 0;
  for (const Variant& v : Registry::standard().variants())
    for (const bool in_place : {false, true}) {
      const std::int64_t count = v.kind->is_vector() ? k.count : std::min<std::int64_t>(k.count, 7); // of each block
      Collective c =
          make_collective(v.kind, space.ranks(), count, DataType::float64, Operation::sum, Rank{0}, in_place);
      if (c.has_root()) c.root = Rank{space.ranks() / 2};
      Parameters p;
      if (k.segments) p.segments = std::min(*k.segments, std::max<std::int64_t>(1, count));
      Result<Schedule> s = v.build(c, space, p);
      if (!s) s = v.build(c, space, {});
      if (!s) {
        EXPECT_EQ(s.error().kind, Error::Kind::not_applicable) << v.name << ": " << s.error().sentence();
        continue;
      }
      const Report report = check(*s, space);
      EXPECT_TRUE(report.ok()) << name_of(v.kind) << " " << v.name << " on " << k.shape << " in place " << in_place
                               << "\n"
                               << report.text();
      EXPECT_TRUE(report.coverage.exact);
      ++proved;
    }
  EXPECT_GT(proved, 10);
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryAlgorithm,
                         testing::Values(Case{"1", 5, {}}, Case{"2", 7, {}}, Case{"3", 29, 3}, Case{"5", 2, {}},
                                         Case{"2x2", 29, 4}, Case{"4x3", 97, 5}, Case{"3x3x3", 101, 3},
                                         Case{"4x3x2", 1000, 8}, Case{"3x2x2x2", 60, 2}, Case{"7", 0, {}},
                                         Case{"4mx3", 40, 2}));

} // namespace
} // namespace kumihimo::verify
