// The golden copy that real runs are compared with: against the published formula, by definition, and that it is no
// copy of anything that comes along.
#include "bench_driver/golden.hpp"
#include "bench_driver/vectors.hpp"
#include "collectives/registry.hpp"
#include "golden/reductions.hpp"
#include "golden/trinaryx3.hpp"
#include "program/builder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace kumihimo::bench_driver {
namespace {

std::vector<Vector> inputs_of(const Collective& c, std::uint64_t seed) {
  std::vector<Vector> inputs;
  for (std::int32_t r = 0; r < c.ranks; ++r) inputs.push_back(values_of(c.type, c.operation, c.counts.each, r, seed));
  return inputs;
}

TEST(GoldenOutputs, TrinaryTreesGiveWhatTheFormulaGives) {
  const std::vector<std::vector<int>> shapes = {{2, 2, 2}, {2, 2}, {4, 3, 2}, {3, 3, 3}, {5}};
  for (const auto& lengths : shapes) {
    std::vector<Axis> axes;
    for (const int n : lengths) axes.push_back({n, true});
    const RankSpace space = RankSpace::box(Shape(axes));
    for (const DataType type : {DataType::float64, DataType::float32})
      for (const std::int64_t segments : {1, 3}) {
        const Collective c = make_collective(CollectiveKind::allreduce, space.ranks(), 200, type);
        Parameters parameters;
        parameters.segments = segments;
        const Result<Schedule> schedule =
            (*Registry::standard().find(c.kind, "trinaryx3"))->build(c, space, parameters);
        ASSERT_TRUE(schedule.ok()) << schedule.error().sentence();
        const std::vector<Vector> inputs = inputs_of(c, 3);
        const Result<std::vector<Vector>> outputs = golden_outputs(*schedule, inputs, plain_loop(c));
        ASSERT_TRUE(outputs.ok());
        const golden::TrinaryCut cut{static_cast<int>(lengths.size()), segments};
        const Vector expected = golden::trinary_reduction(lengths, 0, cut, type, Operation::sum, inputs);
        for (const Vector& output : *outputs) EXPECT_EQ(output, expected) << space.name();
      }
  }
}

TEST(GoldenOutputs, EveryReductionTakesEveryInputOnce) {
  std::map<std::string_view, int> checked; // by variant; those on offloads have no engine here
  for (const Variant& variant : Registry::standard().variants()) {
    if (variant.kind != CollectiveKind::reduce && variant.kind != CollectiveKind::allreduce) continue;
    for (const std::int32_t ranks : {1, 2, 4, 7})
      for (const bool in_place : {false, true}) {
        const Rank root{variant.kind == CollectiveKind::reduce ? ranks - 1 : 0};
        const Collective c =
            make_collective(variant.kind, ranks, 61, DataType::float64, Operation::sum, root, in_place);
        const Result<Schedule> schedule = variant.build(c, RankSpace::node(ranks));
        if (!schedule) continue;
        const std::vector<Vector> inputs = inputs_of(c, 11);
        const Result<std::vector<Vector>> outputs = golden_outputs(*schedule, inputs, plain_loop(c));
        EXPECT_EQ(outputs.ok(), !schedule->claims.offloads) << variant.name << ": there is no engine here";
        if (schedule->claims.offloads) continue;
        ASSERT_TRUE(outputs.ok()) << variant.name << " of " << ranks << ": " << outputs.error().sentence();
        ++checked[variant.name];
        for (std::int32_t r = 0; r < ranks; ++r) {
          const Vector& output = (*outputs)[static_cast<std::size_t>(r)];
          if (variant.kind == CollectiveKind::allreduce || Rank{r} == c.root) {
            EXPECT_EQ(golden::wrong_reduction(c.type, c.operation, inputs, output), std::nullopt) << variant.name;
          }
        }
      }
  }
  EXPECT_GE(checked.size(), 10U);
}

// Receives are written before the sends that start together with them.
TEST(GoldenOutputs, WindowsOfSendsAndReceivesLeaveWhatRoundsDo) {
  constexpr std::int32_t ranks = 5;
  const Collective c = make_collective(CollectiveKind::alltoall, ranks, 3, DataType::float64);
  const Variant& linear = **Registry::standard().find(c.kind, "linear");
  Parameters windows;
  windows.send_window = 1, windows.receive_window = 2;
  const Result<Schedule> apart = linear.build(c, RankSpace::node(ranks), windows),
                         rounds = linear.build(c, RankSpace::node(ranks));
  ASSERT_TRUE(apart.ok() && rounds.ok());
  std::vector<Vector> inputs;
  for (std::int32_t r = 0; r < ranks; ++r) inputs.push_back(values_of(c.type, Operation::sum, 3 * ranks, r, 5));
  const Result<std::vector<Vector>> found = golden_outputs(*apart, inputs, plain_loop(c)),
                                    expected = golden_outputs(*rounds, inputs, plain_loop(c));
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  ASSERT_TRUE(expected.ok()) << expected.error().sentence();
  EXPECT_EQ(*found, *expected);
}

TEST(GoldenOutputs, RanksThatWaitForOneAnotherAreAnError) {
  Schedule s(make_collective(CollectiveKind::allreduce, 2, 4));
  s.program = [](Rank rank) {
    ProgramBuilder program;
    LaneBuilder lane(LaneId{0}, "receive first", 1);
    lane.step(receive(1 - rank.value, out[whole()]));
    lane.step(send(1 - rank.value, in[whole()]));
    program.add(std::move(lane));
    return program.finish();
  };
  EXPECT_FALSE(golden_outputs(s, inputs_of(s.collective(), 1), plain_loop(s.collective())).ok());
}

TEST(Values, OrdersOfSummationDifferInEveryType) {
  for (const DataType type : {DataType::float64, DataType::float32}) {
    const Collective c = make_collective(CollectiveKind::allreduce, 4, 50, type);
    std::vector<Vector> inputs = inputs_of(c, 1);
    const std::vector<Vector> reversed(inputs.rbegin(), inputs.rend());
    EXPECT_NE(golden::fold(type, Operation::sum, inputs), golden::fold(type, Operation::sum, reversed));
  }
}

TEST(Values, RanksAndSeedsDifferAndRepeat) {
  std::set<std::pair<DataType, Vector>> seen;
  for (const DataType type : builtin_datatypes)
    for (const std::int32_t rank : {0, 1})
      for (const std::uint64_t seed : {1, 2}) {
        const Vector values = values_of(type, Operation::sum, 40, rank, seed);
        EXPECT_EQ(values, values_of(type, Operation::sum, 40, rank, seed));
        EXPECT_EQ(values.size(), static_cast<std::size_t>(40 * size_of(type)));
        EXPECT_TRUE(seen.emplace(type, values).second) << name_of(type);
      }
}

} // namespace
} // namespace kumihimo::bench_driver
