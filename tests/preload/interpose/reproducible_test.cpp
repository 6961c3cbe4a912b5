// What runs where reproducible results are asked for: that it keeps one order on all placements, whatever wisdom says.
#include "interpose/communicator_choices.hpp"
#include "plan/collective_call.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kumihimo::interpose {
namespace {

// Reductions that MPI has.
bool has_default(CollectiveKind kind) { return kind->reduces() && plan::has_call(kind, false); }

plan::Wisdom wisdom(const std::string& choices) {
  const std::string text = "{\"kumihimo_wisdom\": 1, \"choices\": [" + choices + "]}";
  auto parsed = plan::Wisdom::parse(text, Registry::standard(), {});
  EXPECT_TRUE(parsed.ok()) << (parsed ? "" : parsed.error().sentence());
  return parsed ? *parsed : plan::Wisdom{};
}

TEST(Reproducible, Words) {
  for (const Reproducible mode : {Reproducible::off, Reproducible::order, Reproducible::exact})
    EXPECT_EQ(*parse_reproducible(name_of(mode)), mode);
  EXPECT_FALSE(parse_reproducible("Order").ok());
}

TEST(Reproducible, OnlyFloatingReductionsAreFixed) {
  for (const DataType type : builtin_datatypes)
    for (const Operation op : builtin_operations) {
      if (!is_applicable(type, op)) continue;
      const Collective c = make_collective(CollectiveKind::allreduce, 4, 10, type, op);
      EXPECT_FALSE(is_fixed(Reproducible::off, c));
      EXPECT_EQ(is_fixed(Reproducible::order, c), is_floating(type));
      EXPECT_TRUE(is_fixed(Reproducible::order, c) || algebra(type, op).associative_in_bits);
    }
  EXPECT_FALSE(is_fixed(Reproducible::exact, make_collective(CollectiveKind::bcast, 4, 10)));
}

// By default there is an algorithm for every length and number of ranks, and it fits.
TEST(Reproducible, DefaultsFitEveryCall) {
  for (const CollectiveKind kind : all_collectives)
    for (const std::int32_t ranks : has_default(kind) ? std::vector{1, 2, 3, 4, 7, 8, 24, 1000} : std::vector<int>{})
      for (const std::int64_t count : {1, 2, 100, 2048, 2049, 100'000, 30'000'000}) {
        const Collective c = make_collective(kind, ranks, count, DataType::float64, Operation::sum, Rank{ranks - 1});
        Collective asked = c;
        if (!asked.has_root()) asked.root = Rank{0};
        int fitting = 0;
        for (const plan::WisdomChoice& choice : fixed_choices({}, kind, ranks)) {
          EXPECT_TRUE(choice.variant->rounding.independent_of_placement);
          EXPECT_EQ(Registry::standard().variants(kind)[choice.place], choice.variant);
          if (!choice.is_for(asked.bytes().value)) continue;
          ++fitting;
          const auto schedule = choice.variant->build(asked, RankSpace::row(ranks), choice.parameters);
          EXPECT_TRUE(schedule.ok()) << name_of(kind) << " on " << ranks << ": " << schedule.error().sentence();
        }
        EXPECT_EQ(fitting, 1);
      }
}

TEST(Reproducible, EveryReductionOfMpiHasADefaultAndNothingElseHas) {
  for (const CollectiveKind kind : all_collectives)
    EXPECT_EQ(fixed_choices({}, kind, 4).empty(), !has_default(kind)) << name_of(kind);
}

TEST(Reproducible, WisdomIsFollowedWhereItPromisesAsMuch) {
  const auto first = [](const std::string& choice) {
    return fixed_choices(wisdom(choice), CollectiveKind::allreduce, 4).front().variant->name;
  };
  const std::string start = "{\"collective\": \"allreduce\", \"determinism\": \"fixed_order\", ";
  EXPECT_EQ(first(start + "\"algorithm\": \"chain\"}"), "chain");
  EXPECT_EQ(first(start + "\"algorithm\": \"chain\", \"ranks\": 4}"), "chain");
  // Of other ranks, of some nodes alone, of the library, of an algorithm that goes by the shape; or made for any order.
  EXPECT_EQ(first(start + "\"algorithm\": \"chain\", \"ranks\": 8}"), "recursive_doubling");
  EXPECT_EQ(first(start + "\"algorithm\": \"chain\", \"nodes\": 1}"), "recursive_doubling");
  EXPECT_EQ(first(start + "\"algorithm\": \"chain\", \"ranks_per_node\": 4}"), "recursive_doubling");
  EXPECT_EQ(first(start + "\"algorithm\": \"library\"}"), "recursive_doubling");
  EXPECT_EQ(first(start + "\"algorithm\": \"bucket\"}"), "recursive_doubling");
  EXPECT_EQ(first("{\"collective\": \"allreduce\", \"algorithm\": \"chain\"}"), "recursive_doubling");
}

TEST(Reproducible, WhatIsHandedOnStaysSoWhereNothingRounds) {
  EXPECT_TRUE(stays_reproducible(CollectiveKind::bcast, Reason::no_plan));
  EXPECT_TRUE(stays_reproducible(CollectiveKind::alltoall, Reason::other_type));
  EXPECT_FALSE(stays_reproducible(CollectiveKind::scan, Reason::other_op));
  EXPECT_TRUE(stays_reproducible(CollectiveKind::reduce, Reason::not_chosen)); // integers: floats are never left
  for (const Reason reason :
       {Reason::other_op, Reason::other_type, Reason::between, Reason::disagreement, Reason::no_plan, Reason::too_many})
    EXPECT_FALSE(stays_reproducible(CollectiveKind::allreduce, reason)) << text_of(reason).sentence;
}

} // namespace
} // namespace kumihimo::interpose
