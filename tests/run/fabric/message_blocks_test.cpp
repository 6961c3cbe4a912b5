// Blocks of messages: each is handed out once, and memory that a provider does not register is given back.
#include "fabric/message_blocks.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace kumihimo::fabric {
namespace {

TEST(MessageBlocks, Are_apart_and_are_used_again) {
  MessageBlocks blocks(100, [](const std::byte*, std::int64_t) -> Result<RegisteredRange*> { return nullptr; });
  std::set<std::byte*> taken;
  for (int i = 0; i < 100; ++i) {
    const MessageBlock block = blocks.take();
    std::memset(block.data, i, 100);
    const auto above = taken.insert(block.data).first;
    if (above != taken.begin()) {
      EXPECT_GE(block.data - *std::prev(above), 100);
    }
    if (std::next(above) != taken.end()) {
      EXPECT_GE(*std::next(above) - block.data, 100);
    }
  }
  EXPECT_EQ(taken.size(), 100u);
  EXPECT_EQ(blocks.slabs(), 2u);
  for (std::byte* data : taken) blocks.give({data, nullptr});
  for (int i = 0; i < 128; ++i) EXPECT_TRUE(blocks.take().data);
  EXPECT_EQ(blocks.slabs(), 2u);
}

TEST(MessageBlocks, Memory_that_is_refused_is_given_back) {
  bool refuses = true;
  std::int64_t registered = 0;
  MessageBlocks blocks(100, [&](const std::byte*, std::int64_t bytes) -> Result<RegisteredRange*> {
    if (refuses) return failed("no more memory can be registered");
    registered += bytes;
    return nullptr;
  });
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(blocks.take().data);
  EXPECT_EQ(blocks.slabs(), 0u);
  refuses = false;
  EXPECT_TRUE(blocks.take().data);
  EXPECT_EQ(blocks.slabs(), 1u);
  EXPECT_GE(registered, 6400);
}

} // namespace
} // namespace kumihimo::fabric
