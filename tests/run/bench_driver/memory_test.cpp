#include "bench_driver/memory.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kumihimo::bench_driver {
namespace {

TEST(Memory, ThatTheSystemRefusesIsAnErrorThatSaysHowMuchForWhat) {
  const Result<int> found = with_memory({123, "a test"}, []() -> int { throw std::bad_alloc(); });
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().sentence(), "out of memory: 123 bytes for a test; give a "
                                      "smaller --bytes or fewer ranks");
}

TEST(Memory, AnErrorGivesTheAdviceOfWhoNeedsIt) {
  const Result<int> found = with_memory({1, "a test", "buy some"}, []() -> int { throw std::bad_alloc(); });
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().advice, "buy some");
}

TEST(Memory, ThatTheSystemGivesIsThere) {
  const Result<std::vector<int>> found = with_memory({16, "a test"}, [] { return std::vector<int>(4, 7); });
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->back(), 7);
  const HeapMemory least = allocate(0);
  EXPECT_NE(least, nullptr) << "its address must differ from all others";
}

} // namespace
} // namespace kumihimo::bench_driver
