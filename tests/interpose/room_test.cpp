#include "interpose/room.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kumihimo::interpose {
namespace {

std::vector<Room::Part> filled(Room& room, std::int32_t ranks, bool must = false) {
  std::vector<Room::Part> parts;
  while (const auto part = room.take(ranks, must)) parts.push_back(*part);
  return parts;
}

TEST(Room, The_first_has_what_there_is_and_the_rest_ever_less) {
  Room room;
  const std::vector<Room::Part> parts = filled(room, 2);
  ASSERT_EQ(parts.size(), static_cast<std::size_t>(Room::most));
  EXPECT_EQ(parts[0].shared_memory_limit_bytes, -1);
  for (std::size_t i = 2; i < parts.size(); ++i)
    EXPECT_LE(parts[i].shared_memory_limit_bytes, parts[i - 1].shared_memory_limit_bytes);
  EXPECT_LT(parts[2].shared_memory_limit_bytes, parts[1].shared_memory_limit_bytes);
  EXPECT_LT(parts.back().shared_memory_limit_bytes, parts[2].shared_memory_limit_bytes);
}

TEST(Room, Of_more_ranks_a_node_there_are_fewer_and_never_less_than_the_best) {
  for (const std::int32_t ranks : {3, 4, 8, 100, 1000}) {
    Room room;
    const std::vector<Room::Part> parts = filled(room, ranks);
    EXPECT_LT(parts.size(), static_cast<std::size_t>(Room::most)) << ranks;
    EXPECT_GE(parts.size(), 2u) << ranks;
    std::int64_t taken = 0;
    for (const Room::Part& part : parts) taken += part.taken_bytes;
    EXPECT_LE(taken, 1 << 20) << ranks;
  }
}

TEST(Room, What_is_given_back_may_be_taken_again) {
  for (const std::int32_t ranks : {1, 2, 4}) {
    Room room;
    const std::vector<Room::Part> parts = filled(room, ranks);
    EXPECT_FALSE(room.take(ranks, false));
    room.give_back(parts.back());
    const auto again = room.take(ranks, false);
    ASSERT_TRUE(again) << ranks;
    EXPECT_EQ(again->shared_memory_limit_bytes, parts.back().shared_memory_limit_bytes);
  }
}

TEST(Room, A_part_is_as_good_as_a_new_one_while_others_live) {
  Room room;
  const auto first = room.take(2, false), second = room.take(2, false), third = room.take(2, false);
  ASSERT_TRUE(first && second && third);
  EXPECT_FALSE(first->is_small() || second->is_small());
  EXPECT_TRUE(third->is_small());
  for (const auto& part : {*first, *second, *third}) EXPECT_FALSE(room.has_better(part, 2, false));
  room.give_back(*second);
  EXPECT_TRUE(room.has_better(*third, 2, false)); // the second one's
  EXPECT_FALSE(room.has_better(*first, 2, false));
  room.give_back(*first);
  EXPECT_TRUE(room.has_better(*third, 2, false));
  EXPECT_EQ(room.take(2, false)->shared_memory_limit_bytes, second->shared_memory_limit_bytes); // nothing was taken
}

TEST(Room, Where_all_must_be_ours_small_rings_are_never_short) {
  Room room;
  EXPECT_EQ(filled(room, 4, true).size(), static_cast<std::size_t>(Room::most_reproducible));
}

TEST(Room, Ranks_of_nodes_of_their_own_take_no_memory) {
  Room room;
  for (const Room::Part& part : filled(room, 1)) EXPECT_EQ(part.taken_bytes, 0);
}

} // namespace
} // namespace kumihimo::interpose
