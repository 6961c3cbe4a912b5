// The registry's rows: each default has its parameter's kind, and what a row takes is what check() lets pass.
#include "collectives/registry.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

const Variant& find(CollectiveKind kind, const char* name) { return **Registry::standard().find(kind, name); }

TEST(Registry, EveryDefaultSuitsItsParameter) {
  int values = 0;
  for (const Variant& v : Registry::standard().variants())
    for (const Variant::Parameter& p : v.parameters) {
      SCOPED_TRACE(v.name + " " + std::string(p.parameter->name));
      EXPECT_EQ(find_parameter(p.parameter->name), p.parameter);
      EXPECT_FALSE(text_of(p.default_value).empty());
      if (std::holds_alternative<DerivedDefault>(p.default_value)) continue;
      EXPECT_EQ(p.default_value.index(), p.parameter->value.index()) << p.parameter->kind();
      EXPECT_TRUE(p.parameter->is_given(v.with_defaults({})));
      if (const auto* number = std::get_if<std::int64_t>(&p.default_value)) {
        EXPECT_TRUE(p.parameter->check(*number));
      }
      ++values;
    }
  EXPECT_GT(values, 60);
}

TEST(Registry, GivenValuesReplaceDefaults) {
  Parameters given;
  given.window = 7;
  const Parameters p = find(CollectiveKind::allreduce, "trinaryx3_overlap").with_defaults(given);
  EXPECT_EQ(p.window, 7);
  EXPECT_EQ(p.overlap, true);
  EXPECT_FALSE(p.trees) << "its default follows from the shape";
}

TEST(Registry, SegmentsAreTakenInPlaceOfTheirSize) {
  Parameters number, both;
  number.segments = both.segments = 3;
  both.segment_bytes = 64;
  const Variant &chain = find(CollectiveKind::bcast, "chain"), &bruck = find(CollectiveKind::alltoall, "bruck");
  EXPECT_TRUE(chain.takes(parameter::segments) && chain.takes(parameter::segment_bytes));
  EXPECT_FALSE(bruck.takes(parameter::segments) || bruck.takes(parameter::segment_bytes));
  EXPECT_TRUE(chain.check(number));
  EXPECT_EQ(chain.check(both).error().sentence(),
            "segments and segment_bytes exclude each other; leave one of them out");
  EXPECT_EQ(bruck.check(number).error().sentence(), "bruck has no parameter segments; leave it out");
}

TEST(Registry, OverlapIsAParameterOfAllreduceAlone) {
  EXPECT_TRUE(find(CollectiveKind::allreduce, "binomial").takes(parameter::overlap));
  EXPECT_FALSE(find(CollectiveKind::bcast, "binomial").takes(parameter::overlap));
  EXPECT_TRUE(find(CollectiveKind::bcast, "binomial").takes(parameter::single_copy)) << "a hint";
}

// ADR 0027: hints are the executor's.
TEST(Registry, SchedulesDoNotContainHints) {
  Parameters p;
  p.single_copy = p.streaming_stores = true;
  const auto built = [](const Parameters& with) {
    return find(CollectiveKind::bcast, "chain")
        .build(make_collective(CollectiveKind::bcast, 3, 8), RankSpace::row(3), with)
        ->parameters;
  };
  EXPECT_EQ(built(p), built({}));
  EXPECT_EQ(with_hints("segments=2", p), "segments=2 single_copy streaming_stores");
  EXPECT_EQ(with_hints("", p), "single_copy streaming_stores");
  p.fabric = true;
  EXPECT_EQ(with_hints("", p), "single_copy streaming_stores fabric");
  EXPECT_EQ(with_hints("", {}), "");
}

} // namespace
} // namespace kumihimo
