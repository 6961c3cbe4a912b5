// A new collective is its row and an algorithm: the registry, bounds, predictions, proofs and exports know it by the
// row. (That it runs is shown with all others, in conformance_test.cpp.)
#include "collectives/patterns/levels/hierarchical.hpp"
#include "export/text.hpp"
#include "machine/machine.hpp"
#include "reduce_gather.hpp"
#include "schedule/data.hpp"
#include "simulate/simulate.hpp"
#include "verify/verify.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

using namespace kumihimo;

const CollectiveKind reduce_gather(reduce_gather_row);

TEST(NewCollective, MeansWhatItsRowSays) {
  const Collective c = make_collective(reduce_gather, 3, 5, DataType::float64, Operation::sum, Rank{2});
  using Parts = std::vector<Contribution>;
  EXPECT_EQ(contributions(c, Rank{2}), (Parts{{5, 0, 3, 0}, {5, 0, 3, 5}, {5, 0, 3, 10}}));
  EXPECT_EQ(contributions(c, Rank{0}), Parts{});
}

TEST(NewCollective, IsInARegistry) {
  Registry registry;
  registry.add(reduce_gather_pairwise());
  ASSERT_TRUE(registry.find(reduce_gather, "pairwise").ok());
  EXPECT_NE(registry.find(reduce_gather, "ring").error().sentence().find("reduce_gather has no such algorithm"),
            std::string::npos);
}

TEST(NewCollective, IsProvedAndAMistakeIsFound) {
  const RankSpace space = RankSpace::row(5);
  const Variant& v = reduce_gather_pairwise();
  const Collective c = make_collective(reduce_gather, 5, 7, DataType::int32, Operation::sum, Rank{3});
  Schedule s = *v.build(c, space);
  EXPECT_TRUE(verify::check(s, space).ok()) << verify::check(s, space).text();
  Collective other = c;
  other.root = Rank{1};
  s.set_collective(other); // whose sums another rank gets
  EXPECT_FALSE(verify::check(s, space).ok());
}

// The combinator of levels reads the row, too: the same as two reductions, within the nodes and between their leaders.
TEST(NewCollective, MayBeMadeOfStages) {
  const Variant levels = hierarchical(
      reduce_gather,
      {{{false, CollectiveKind::reduce, PartData::vector_of_blocks, StageBuffer::input, StageBuffer::partial},
        {true, CollectiveKind::reduce, PartData::vector_of_blocks, StageBuffer::partial, StageBuffer::output}},
       "binomial",
       "chain"});
  std::vector<NodeId> mixed;
  for (const int node : {2, 0, 0, 2, 1, 0, 2}) mixed.emplace_back(node);
  for (const RankSpace& space :
       {RankSpace::box(*Shape::parse("3"), 4), RankSpace::recognise(*Shape::parse("3"), mixed)})
    for (const std::int32_t root : {0, 4}) {
      const Collective c =
          make_collective(reduce_gather, space.ranks(), 5, DataType::int32, Operation::sum, Rank{root});
      const Result<Schedule> s = levels.build(c, space);
      ASSERT_TRUE(s.ok()) << s.error().sentence();
      EXPECT_TRUE(verify::check(*s, space).ok()) << space.name() << ": " << verify::check(*s, space).text();
    }
}

TEST(NewCollective, IsPredictedBetweenItsBoundsAndItsCost) {
  Machine m = Machine{}.as_torus(*Shape::parse("4x2"));
  m.network.link_bandwidth.value = m.network.engine_bandwidth.value = m.network.injection_bandwidth.value = {1e9};
  m.network.engines.value = m.node.default_ranks_per_node.value = 1;
  m.node.memory_bandwidth.value = m.node.shared_memory_bandwidth.value = {1e10};
  m.node.reduction_rate.value = m.node.reduction_rate_scalar.value = {4e9};
  m.software.message_cost.value = {1e-6};
  const RankSpace space = RankSpace::box(*Shape::parse("4x2"));
  for (const std::int64_t count : {1, 1000, 1'000'000}) {
    const Collective c = make_collective(reduce_gather, 8, count);
    const Schedule s = *reduce_gather_pairwise().build(c, space);
    for (const ScheduleModel model : {ScheduleModel::flow, ScheduleModel::exact}) {
      const auto found = simulate(s, m, {}, {.model = model});
      ASSERT_TRUE(found.ok());
      EXPECT_FALSE(found->bounds.empty());
      for (const LowerBound& bound : found->bounds)
        EXPECT_GE(found->seconds.value, bound.seconds.value * (1 - 1e-9)) << bound.name;
    }
  }
}

TEST(NewCollective, IsPrinted) {
  const RankSpace space = RankSpace::row(4);
  const Schedule s = *reduce_gather_pairwise().build(make_collective(reduce_gather, 4, 5), space);
  EXPECT_NE(header_text(s, space).find("reduce_gather"), std::string::npos);
}

} // namespace
} // namespace conformance
