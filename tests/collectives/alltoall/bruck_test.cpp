// A radix that no number of ranks reaches.
#include "collectives/registry.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kumihimo {
namespace {

Schedule bruck(std::int32_t ranks, std::int64_t radix) {
  Parameters p;
  p.radix = radix;
  const Variant& v = **Registry::standard().find(CollectiveKind::alltoall, "bruck");
  Result<Schedule> s = v.build(make_collective(CollectiveKind::alltoall, ranks, 3), RankSpace::row(ranks), p);
  EXPECT_TRUE(s.ok()) << s.error().sentence();
  return std::move(*s);
}

TEST(Bruck, ARadixAboveTheRanksIsADirectExchange) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  for (const std::int32_t ranks : {2, 5, 8}) {
    const Schedule direct = bruck(ranks, ranks);
    for (const std::int64_t radix : {std::int64_t{ranks} + 1, largest / 2, largest - 1, largest}) {
      const Schedule s = bruck(ranks, radix);
      for (std::int32_t r = 0; r < ranks; ++r) EXPECT_EQ(s.program(Rank{r}), direct.program(Rank{r})) << radix;
    }
  }
}

} // namespace
} // namespace kumihimo
