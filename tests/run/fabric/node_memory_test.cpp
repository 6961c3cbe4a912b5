// Memory of a node's processes, which are two objects of this process here.
#include "fabric/node_memory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace kumihimo::fabric {
namespace {

constexpr std::int64_t bytes = 10'000;

struct Pair {
  NodeMemory owner, other;
  Pair() { other.meet(3, owner.invitation()); }
};

// Of this process, of such memory and of boards.
std::int64_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::int64_t found = 0;
  for (std::string line; std::getline(maps, line);)
    if (line.find("kumihimo-remote-memory") != std::string::npos) ++found;
  return found;
}

TEST(NodeMemory, IsFoundByItsNameUntilItIsFreed) {
  Pair pair;
  std::byte* const data = *pair.owner.allocate(bytes);
  EXPECT_EQ(pair.other.find(3, 77), nullptr) << "it is not published";
  pair.owner.publish(data, 78);
  std::byte* const seen = pair.other.find(3, 78);
  ASSERT_NE(seen, nullptr);
  EXPECT_NE(seen, data) << "a mapping of its own";
  seen[bytes - 1] = std::byte{9};
  EXPECT_EQ(data[bytes - 1], std::byte{9});
  EXPECT_EQ(pair.other.find(3, 78), seen) << "mapped once";
  EXPECT_EQ(pair.other.find(2, 78), nullptr) << "another rank";
  pair.owner.free(data);
  EXPECT_EQ(seen[bytes - 1], std::byte{0}) << "its pages are given back though it is still mapped";
  EXPECT_EQ(pair.other.find(3, 78), nullptr);
}

TEST(NodeMemory, WhatWasFreedIsUnmappedByTheOthers) {
  Pair pair;
  const std::int64_t before = mappings();
  for (std::uint64_t name = 1; name <= 20; ++name) {
    std::byte* const data = *pair.owner.allocate(bytes);
    pair.owner.publish(data, name);
    ASSERT_NE(pair.other.find(3, name), nullptr);
    pair.owner.free(data);
  }
  EXPECT_LE(mappings(), before + 2) << "the owner's board, and the last one";
}

TEST(NodeMemory, ANameThatComesAgainIsNotTheOldMemory) {
  Pair pair;
  std::byte* data = *pair.owner.allocate(bytes);
  pair.owner.publish(data, 5);
  ASSERT_NE(pair.other.find(3, 5), nullptr);
  pair.owner.free(data);
  data = *pair.owner.allocate(bytes);
  pair.owner.publish(data, 5);
  if (std::byte* const seen = pair.other.find(3, 5)) seen[0] = std::byte{1};
  EXPECT_NE(pair.other.find(3, 5), data);
  std::byte* const seen = pair.other.find(3, 5);
  EXPECT_EQ(seen == nullptr, data[0] == std::byte{0}) << "the provider moves the data, or the new memory has them";
}

TEST(NodeMemory, WhatACopyUsesStaysMappedThoughItsOwnerFreesIt) {
  Pair pair;
  std::byte* const data = *pair.owner.allocate(bytes);
  pair.owner.publish(data, 5);
  std::byte* const seen = pair.other.find(3, 5);
  pair.other.hold(3, 5);
  pair.owner.free(data);
  std::byte* const again = *pair.owner.allocate(bytes);
  pair.owner.publish(again, 5);
  EXPECT_EQ(pair.other.find(3, 5), nullptr) << "the provider moves the data of the new memory";
  seen[0] = std::byte{1}; // would be a fault
  EXPECT_EQ(again[0], std::byte{0});
  pair.other.let_go(3, 5);
  const std::int64_t before = mappings();
  EXPECT_NE(pair.other.find(3, 5), nullptr);
  EXPECT_EQ(mappings(), before) << "the old one is unmapped";
}

TEST(NodeMemory, MoreThanTheMachineHasIsRefused) {
  NodeMemory memory;
  const auto refused = memory.allocate(std::int64_t{1} << 60);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().sentence().find("cannot get 1152921504606846976 bytes of shared memory"), std::string::npos)
      << refused.error().sentence();
}

TEST(NodeMemory, CountsFlagsBehindTheStores) {
  Pair pair;
  std::byte* const data = *pair.owner.allocate(bytes);
  pair.owner.publish(data, 1);
  ASSERT_NE(pair.other.find(3, 1), nullptr);
  for (int i = 0; i < 3; ++i) pair.other.count(3, NodeMemory::flags - 1);
  EXPECT_EQ(pair.owner.counted(NodeMemory::flags - 1), 3);
  EXPECT_EQ(pair.owner.counted(0), 0);
  EXPECT_EQ(pair.other.counted(NodeMemory::flags - 1), 0);
}

TEST(NodeMemory, ABoardOfAnotherProcessIsNotTaken) {
  Pair pair;
  std::byte* const data = *pair.owner.allocate(bytes);
  pair.owner.publish(data, 1);
  NodeMemory::Invitation false_word = pair.owner.invitation(), false_file = false_word, elsewhere = false_word;
  ++false_word.word;
  false_file.file = 100'000;
  ++elsewhere.process.id_space;
  std::int32_t rank = 10;
  for (const NodeMemory::Invitation& wrong : {false_word, false_file, elsewhere}) {
    pair.other.meet(++rank, wrong);
    EXPECT_EQ(pair.other.find(rank, 1), nullptr) << rank;
  }
}

TEST(NodeMemory, MoreThanTheBoardHasRowsForIsLeftToTheProvider) {
  Pair pair;
  int found = 0;
  for (std::uint64_t name = 1; name <= 1'030; ++name) {
    pair.owner.publish(*pair.owner.allocate(4'096), name);
    found += pair.other.find(3, name) != nullptr;
  }
  EXPECT_EQ(found, 1'024);
}

} // namespace
} // namespace kumihimo::fabric
