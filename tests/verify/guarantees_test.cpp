// What the registry's rows promise of the bits of their results, against the orders that their schedules have.
#include "collectives/registry.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace kumihimo::verify {
namespace {

// 12 ranks in many ways: known and unknown places, in order and not; and 16.
std::vector<RankSpace> placements(std::int32_t ranks) {
  std::vector<RankSpace> spaces = {RankSpace::row(ranks), RankSpace::node(ranks)};
  for (const char* shape : {"12", "4x3", "3x2x2", "3mx4", "16", "4x4", "2x4x2", "4mx4"})
    if (const Shape box = *Shape::parse(shape); box.places() == ranks) spaces.push_back(RankSpace::box(box));
  for (const char* nodes : {"3", "3x2", "2x4", "4"})
    if (const Shape box = *Shape::parse(nodes); ranks % box.places() == 0)
      spaces.push_back(RankSpace::box(box, ranks / box.places()));
  std::vector<NodeId> shuffled;
  for (std::int32_t r = 0; r < ranks; ++r) shuffled.push_back(NodeId{5 * r % ranks});
  spaces.push_back(RankSpace::recognise(*Shape::parse(ranks == 12 ? "4x3" : "4x4"), shuffled));
  return spaces;
}

// The orders of a row's results, over all placements that it fits.
std::set<std::uint64_t> orders(const Variant& v, std::int64_t count, std::int32_t ranks) {
  std::set<std::uint64_t> found;
  for (const RankSpace& space : placements(ranks)) {
    const Rank root{v.kind == CollectiveKind::allreduce ? 0 : 5};
    const Collective c = make_collective(v.kind, space.ranks(), count, DataType::float64, Operation::sum, root);
    const Result<Schedule> schedule = v.build(c, space);
    if (!schedule) continue;
    const Report report = check(*schedule, space);
    EXPECT_TRUE(report.ok()) << v.name << " on " << space.name() << ": " << report.text();
    EXPECT_TRUE(report.coverage.exact);
    EXPECT_EQ(schedule->claims.same_on_all_ranks, v.rounding.same_on_all_ranks);
    found.insert(report.coverage.order);
  }
  return found;
}

TEST(Guarantees, IndependentOfThePlacementIsOneOrderOnAllShapes) {
  int independent = 0, dependent = 0;
  for (const Variant& v : Registry::standard().variants()) {
    if (v.kind != CollectiveKind::reduce && v.kind != CollectiveKind::allreduce) continue;
    const std::size_t of_12 = orders(v, 101, 12).size(), found = std::max(of_12, orders(v, 101, 16).size());
    ASSERT_GT(found, 0u) << v.name;
    EXPECT_TRUE(found == 1 || !v.rounding.independent_of_placement) << name_of(v.kind) << " " << v.name;
    independent += v.rounding.independent_of_placement;
    dependent += !v.rounding.independent_of_placement && found > 1;
  }
  EXPECT_GT(independent, 10);
  EXPECT_GT(dependent, 4); // the comparison can fail: trees and rings of a torus go by its shape
}

TEST(Guarantees, OrderIsToldByTheTreeAlone) {
  const RankSpace space = RankSpace::row(6);
  const auto order = [&](std::string_view name, std::int64_t count, std::int64_t segments) {
    return check(registered(name, space, count, segments), space).coverage.order;
  };
  EXPECT_NE(order("chain", 60, 1), 0u);
  EXPECT_EQ(order("chain", 60, 1), order("chain", 60, 5)); // cut in segments, and each combined as before
  EXPECT_NE(order("chain", 60, 1), order("binary", 60, 1));
  EXPECT_NE(order("ring", 60, 1), order("ring", 60, 5)); // the parts of a segment begin at different ranks
  const auto other = sabotage_named("swapped_operands").apply(registered("chain", space, 60));
  ASSERT_TRUE(other);
  Schedule swapped = *other;
  swapped.claims.keeps_rank_order = false;
  const Report report = check(swapped, space);
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_NE(report.coverage.order, order("chain", 60, 1));
}

TEST(Guarantees, OfWhatDoesNotRoundAreAll) {
  constexpr Guarantees all{true, true, true, true};
  const auto row = *Registry::standard().find(CollectiveKind::allreduce, "bucket");
  const auto asked = [&](DataType type, Operation op) {
    return row->guarantees(make_collective(CollectiveKind::allreduce, 4, 10, type, op));
  };
  EXPECT_EQ(asked(DataType::int32, Operation::sum), all);
  EXPECT_EQ(asked(DataType::float64, Operation::max), all);
  for (const Operation op : {Operation::sum, Operation::prod}) {
    const Guarantees g = asked(DataType::float32, op);
    EXPECT_TRUE(g.same_on_all_ranks && g.same_from_run_to_run);
    EXPECT_FALSE(g.independent_of_placement || g.independent_of_rank_count);
  }
  const auto bcast_row = *Registry::standard().find(CollectiveKind::bcast, "trinaryx3");
  EXPECT_EQ(bcast_row->guarantees(bcast(4)), all);
}

} // namespace
} // namespace kumihimo::verify
