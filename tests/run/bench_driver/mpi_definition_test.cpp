// What collectives mean: by hand, of every algorithm, and of schedules made wrong on purpose.
#include "bench_driver/memory.hpp"
#include "bench_driver/mpi_definition.hpp"
#include "bench_driver/vectors.hpp"
#include "collectives/registry.hpp"
#include "sabotage/sabotage.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace kumihimo::bench_driver {
namespace {

Vector input_of(const Collective& c, std::int32_t rank) {
  return values_of(c.type, c.operation, memory_of(c, Rank{rank}).input_bytes / c.type_bytes, rank, 5);
}

// Whether the golden copy of a schedule is what its collective means, on all ranks; deadlock is not.
bool is_right(const Schedule& schedule) {
  const Collective& c = schedule.collective();
  std::vector<Vector> inputs;
  for (std::int32_t r = 0; r < c.ranks; ++r) inputs.push_back(input_of(c, r));
  const Result<std::vector<Vector>> outputs = golden_outputs(schedule, inputs, plain_loop(c));
  if (!outputs) return false;
  for (std::int32_t r = 0; r < c.ranks; ++r) {
    const Definition meant(
        c, Rank{r}, [&](std::int32_t rank) { return inputs[rank]; }, plain_loop(c));
    if (memory_of(c, Rank{r}).result_bytes > 0 &&
        meant.first_wrong((*outputs)[static_cast<std::size_t>(r)].data()) >= 0)
      return false;
  }
  return true;
}

// Of float64, with the last rank as root where there is one, in two segments where they can be asked for.
Result<Schedule> schedule_of(const Variant& variant, const RankSpace& space, Operation operation = Operation::sum,
                             bool in_place = false) {
  Collective c = make_collective(variant.kind, space.ranks(), 60, DataType::float64, operation, Rank{0}, in_place);
  if (c.has_root()) c.root = Rank{c.ranks - 1};
  Parameters two_segments;
  if (variant.takes(parameter::segment_bytes)) two_segments.segment_bytes = c.bytes().value / 2;
  return variant.build(c, space, two_segments);
}

TEST(Definition, IsWhatEveryAlgorithmGives) {
  std::map<CollectiveKind, int> checked;
  for (const Variant& variant : Registry::standard().variants())
    for (const std::int32_t ranks : {1, 2, 4, 7})
      for (const bool in_place : {false, true})
        for (const Operation operation : {Operation::sum, Operation::max}) {
          const Result<Schedule> schedule = schedule_of(variant, RankSpace::node(ranks), operation, in_place);
          if (!schedule || schedule->claims.offloads) continue; // there is no engine here
          EXPECT_TRUE(is_right(*schedule)) << name_of(variant.kind) << ' ' << variant.name << ' ' << ranks;
          ++checked[variant.kind];
        }
  EXPECT_EQ(checked.size(), collective_kinds);
  for (const auto& [kind, number] : checked) EXPECT_GE(number, 8) << name_of(kind);
}

TEST(Definition, IsNotWhatSabotagedOnesGive) {
  const std::set<std::string_view> tried = {"wrong_chunk",   "missing_segment", "doubled_contribution", "lost_message",
                                            "extra_receive", "permuted_block",  "missing_shuffle"};
  std::map<CollectiveKind, std::set<std::string_view>> found;
  for (const Variant& variant : Registry::standard().variants()) {
    const Result<Schedule> schedule = schedule_of(variant, RankSpace::box(*Shape::parse("2x2")));
    if (!schedule) continue;
    for (const verify::Sabotage& sabotage : verify::sabotages()) {
      if (!tried.contains(sabotage.name)) continue;
      const std::optional<Schedule> wrong = sabotage.apply(*schedule);
      if (!wrong) continue;
      EXPECT_FALSE(is_right(*wrong)) << name_of(variant.kind) << ' ' << variant.name << ", " << sabotage.name;
      found[variant.kind].insert(sabotage.name);
    }
  }
  EXPECT_EQ(found.size(), collective_kinds - 1) << "of every kind but the barrier, which has no data";
  for (const auto& [kind, names] : found) EXPECT_GE(names.size(), 2u) << name_of(kind);
  EXPECT_TRUE(found[CollectiveKind::allgather].contains("permuted_block"));
  EXPECT_TRUE(found[CollectiveKind::alltoall].contains("wrong_chunk"));
}

TEST(Definition, AllowsOtherOrdersOfSummationAndNoMore) {
  const Collective c = make_collective(CollectiveKind::allreduce, 5, 100);
  const Combine plain = plain_loop(c);
  Vector backwards = input_of(c, 4);
  for (std::int32_t r = 3; r >= 0; --r) plain(input_of(c, r).data(), backwards.data(), backwards.data(), 100);
  const Definition meant(
      c, Rank{0}, [&](std::int32_t rank) { return input_of(c, rank); }, plain);
  EXPECT_EQ(meant.first_wrong(backwards.data()), -1);
  Vector rounded = backwards;
  rounded[8 * 31 + 3] ^= std::byte{1}; // the 25th bit of the significand
  EXPECT_EQ(meant.first_wrong(rounded.data()), 31);
}

} // namespace
} // namespace kumihimo::bench_driver
