// Every copy variant by the check that tuning uses, and that check against copies that are wrong in one way each;
// plans: what runs for which length.
#include "kernels/check.hpp"
#include "kernels/plans.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::kernels {
namespace {

TEST(CopyVariants, AgreeWithTheGoldenCopy) {
  for (const CopyVariant& each : copy_variants()) {
    if (!each.runs_here) continue;
    EXPECT_EQ(first_fault(CopyChoice(&each).kernel()), "") << each.name;
    for (const TakenParameter& taken : each.parameters)
      for (const std::int64_t value : tuning_values(taken)) {
        const Parameter* const parameter = taken.parameter;
        EXPECT_TRUE(parameter->check(value)) << each.name << " " << value;
        const CopyKernel kernel = CopyChoice(&each, {{std::string(parameter->name), value}}).kernel();
        ASSERT_NE(kernel, nullptr) << each.name << ", " << parameter->name << " " << value;
        EXPECT_EQ(first_fault(kernel), "") << each.name << ", " << parameter->name << " " << value;
      }
  }
}

void forgets_the_last(const void* source, void* target, std::int64_t bytes) {
  std::memmove(target, source, static_cast<std::size_t>(bytes - (bytes > 290)));
}
void writes_beyond(const void* source, void* target, std::int64_t bytes) {
  std::memmove(target, source, static_cast<std::size_t>(bytes));
  if (bytes == 1023) static_cast<char*>(target)[bytes] = 0;
}
void swaps(const void* source, void* target, std::int64_t bytes) {
  std::memmove(target, source, static_cast<std::size_t>(bytes));
  if (bytes > 7) static_cast<char*>(const_cast<void*>(source))[3] ^= 1;
}
void clears_first(const void* source, void* target, std::int64_t bytes) {
  std::memset(target, 0, static_cast<std::size_t>(bytes));
  std::memmove(target, source, static_cast<std::size_t>(bytes));
}

TEST(CopyCheck, NamesTheInputOnWhichACopyIsWrong) {
  EXPECT_NE(first_fault(forgets_the_last).find("copy of 291 bytes, offsets "), std::string::npos);
  EXPECT_NE(first_fault(writes_beyond).find("copy of 1023 bytes"), std::string::npos);
  EXPECT_NE(first_fault(swaps).find("it changed the source"), std::string::npos);
  EXPECT_NE(first_fault(clears_first).find("onto itself"), std::string::npos);
}

// --- plans

using Reductions = Selection::Reduce;
const ReduceVariant* reduction(std::string_view name) { return find_reduce_variant(name); }

std::vector<std::string> calls; // of the marked kernels
template <char mark>
void marked(const void*, const void*, void*, std::int64_t) {
  calls.emplace_back(1, mark);
}
template <char mark>
ReduceKernel marked_kernel(DataType, Operation) {
  return marked<mark>;
}
constexpr ReduceVariant a{{"a", ""}, true, marked_kernel<'a'>}, b{{"b", ""}, true, marked_kernel<'b'>},
    c{{"c", ""}, true, marked_kernel<'c'>};

struct Plan : testing::Test {
  void TearDown() override { use_untuned(); }
  static std::string ran(const ReducePlan& plan, std::int64_t count) {
    calls.clear();
    plan(nullptr, nullptr, nullptr, count);
    return calls.at(0);
  }
};

TEST_F(Plan, RunsTheVariantOfTheLength) {
  Selection choices = untuned();
  Reductions& sums = choices.of(DataType::int32, Operation::sum);
  sums = Reductions(&a);
  sums.set({100, 4099}, &b); // bytes; of 25 to 1024 elements
  sums.set({4100, SizeRange{}.to}, &c);
  const ReducePlan before = reduce_plan(DataType::int32, Operation::sum);
  use(choices);
  const ReducePlan plan = reduce_plan(DataType::int32, Operation::sum);
  use_untuned();
  EXPECT_EQ(ran(plan, 0), "a");
  EXPECT_EQ(ran(plan, 24), "a");
  EXPECT_EQ(ran(plan, 25), "b");
  EXPECT_EQ(ran(plan, 1024), "b");
  EXPECT_EQ(ran(plan, 1025), "c");
  EXPECT_EQ(ran(plan, std::int64_t{1} << 60), "c");
  EXPECT_EQ(before.kernel, reduce_plan(DataType::int32, Operation::sum).kernel) << "untuned again";
  EXPECT_NE(before.kernel, plan.kernel);
}

TEST_F(Plan, OfOneVariantIsForAllLengths) {
  const ReducePlan plan(marked<'a'>);
  EXPECT_EQ(ran(plan, 1), "a");
  EXPECT_EQ(ran(plan, std::int64_t{1} << 60), "a");
  EXPECT_FALSE(ReducePlan());
}

TEST_F(Plan, IsForEveryApplicableOperation) {
  for (int t = 0; t < datatype_count; ++t)
    for (int o = 0; o < operation_count; ++o) {
      const auto type = static_cast<DataType>(t);
      const auto op = static_cast<Operation>(o);
      EXPECT_EQ(static_cast<bool>(reduce_plan(type, op)), op != Operation::user && is_applicable(type, op));
    }
}

// As tests/run/kernels/CMakeLists.txt sets the environment: from 64 KiB on stores are non-temporal where there are any.
TEST_F(Plan, UntunedStreamsFromTheThresholdOn) {
  Selection choices = untuned();
  const Reductions& sums = choices.of(DataType::float64, Operation::sum);
  const std::string usual(sums.at(0)->name), name(sums.at(streaming_threshold_bytes())->name);
  EXPECT_EQ(sums.at(streaming_threshold_bytes() - 1)->name, usual);
  EXPECT_EQ(name, reduction(usual + "_streaming") ? usual + "_streaming" : usual);
  EXPECT_EQ(choices.of(CopyReader::same_core).at(streaming_threshold_bytes() - 1).variant->name, "plain");
  EXPECT_EQ(choices.of(CopyReader::same_core).at(streaming_threshold_bytes()).variant->name,
            find_copy_variant("streaming") ? "streaming" : "plain");
}

TEST_F(Plan, CopiesByItsVariants) {
  Selection choices = untuned();
  choices.of(CopyReader::other_core) = Selection::Copy(CopyChoice(&copy_variants().back()));
  use(choices);
  EXPECT_EQ(copy_plan(CopyReader::other_core).most_plain,
            copy_variants().size() > 1 ? smallest_tuned_copy_bytes - 1 : SizeRange{}.to);
  for (const CopyReader reader : readers)
    for (const std::int64_t bytes :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{4097}, streaming_threshold_bytes() + 3}) {
      std::vector<unsigned char> source(static_cast<std::size_t>(bytes), 7), target(source.size(), 1);
      copy_plan(reader)(source.data(), target.data(), bytes);
      EXPECT_EQ(target, source) << bytes;
    }
}

TEST_F(Plan, AVariantThatIsUnknownIsNotFound) {
  EXPECT_EQ(reduction("quantum"), nullptr);
  EXPECT_EQ(find_copy_variant("quantum"), nullptr);
  EXPECT_EQ(reduce_variants().front().name, "plain") << "the golden copy is the first";
}

// Once each way, see tests/run/kernels/CMakeLists.txt.
TEST(Copy, TheEnvironmentDecidesHowOtherCoresAreWrittenTo) {
  const char* stores = std::getenv("KUMIHIMO_SHARED_STORES");
  ASSERT_NE(stores, nullptr);
  EXPECT_EQ(streams_to_other_cores(), std::string_view(stores) == "streamed");
  EXPECT_TRUE(environment_decides_copies(CopyReader::other_core));
  Selection choices = untuned();
  const bool streams = choices.of(CopyReader::other_core).at(smallest_streamed_bytes).variant->name == "streaming";
  EXPECT_EQ(streams, streams_to_other_cores() && find_copy_variant("streaming"));
}

} // namespace
} // namespace kumihimo::kernels
