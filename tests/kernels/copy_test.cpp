// Streamed copies and reductions at sizes and offsets around the cache line.
#include "kernels/copy.hpp"
#include "kernels/reduce.hpp"
#include "patterns.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::kernels {
namespace {

TEST(CopyStreaming, copies_all_sizes_at_all_offsets) {
  std::mt19937_64 random(11);
  for (std::int64_t count = 0; count <= 300; ++count)
    for (int offset : {0, 1, 8, 63}) {
      const auto values = operand(DataType::uint8, count, random);
      Guarded target(DataType::uint8, count, offset);
      copy_streaming(values.data(), target.data(), count);
      ASSERT_EQ(first_difference(DataType::uint8, target.data(), values.data(), count, false), -1) << count;
      ASSERT_TRUE(target.guards_intact()) << count << " at " << offset;
    }
}

TEST(Copy, copies_below_and_above_the_threshold_and_onto_itself) {
  std::mt19937_64 random(12);
  for (std::int64_t count : {std::int64_t{1}, std::int64_t{4097}, streaming_threshold_bytes() + 3}) {
    auto values = operand(DataType::uint8, count, random);
    std::vector<unsigned char> target(values.size());
    copy(values.data(), target.data(), count);
    EXPECT_EQ(target, values) << count;
    copy(target.data(), target.data(), count);
    EXPECT_EQ(target, values) << count;
  }
}

// Above the threshold the reduction loops stream: every level, with the first and last lines whole and partial.
class ReduceAboveThreshold : public testing::TestWithParam<Level> {};

TEST_P(ReduceAboveThreshold, equals_the_reference) {
  if (!is_supported(GetParam())) GTEST_SKIP() << "this processor lacks " << name_of(GetParam());
  std::mt19937_64 random(13);
  for (DataType type : {DataType::int8, DataType::float32, DataType::float64})
    for (std::int64_t more : {0, 1, 7, 33, 300})
      for (int offset : {0, 8, 13, 40}) {
        const std::int64_t count = streaming_threshold_bytes() / size_of(type) + more;
        const auto left = operand(type, count, random), right = operand(type, count, random);
        std::vector<unsigned char> expected(left.size());
        reference_reduce_kernel(type, Operation::max)(left.data(), right.data(), expected.data(), count);
        Guarded target(type, count, offset);
        find_reduce_kernel(type, Operation::max, GetParam())(left.data(), right.data(), target.data(), count);
        ASSERT_EQ(first_difference(type, target.data(), expected.data(), count, false), -1) << more << " " << offset;
        ASSERT_TRUE(target.guards_intact()) << more << " " << offset;
      }
}

INSTANTIATE_TEST_SUITE_P(, ReduceAboveThreshold, testing::ValuesIn(levels),
                         [](const auto& suite) { return std::string(name_of(suite.param)); });

// Once each way, see tests/kernels/CMakeLists.txt.
TEST(Copy, The_environment_says_how_other_cores_are_written_to) {
  const char* stores = std::getenv("KUMIHIMO_SHARED_STORES");
  ASSERT_NE(stores, nullptr);
  EXPECT_EQ(streams_to_other_cores(), std::string_view(stores) == "streamed");
}

} // namespace
} // namespace kumihimo::kernels
