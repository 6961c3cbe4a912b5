#include "shared_memory/channel_receiver.hpp"
#include "shared_memory/channel_sender.hpp"
#include "shared_memory/letters.hpp"
#include "shared_memory/node_segment.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>

namespace kumihimo::shared_memory {
namespace {

using namespace testing;

TEST(Channel, A_message_that_fits_is_sent_and_received_without_progress_calls) {
  for (std::int64_t bytes : {0, 1, 8, 32, 33, 256, 1000}) {
    Ring ring(small);
    ChannelSender out(ring.channel);
    ChannelReceiver in(ring.channel);
    Letter letter(key_of(0), bytes, 1, 3);
    out.start(letter.send);
    EXPECT_EQ(letter.send_open, 0) << bytes;
    in.start(letter.receive);
    EXPECT_TRUE(letter.arrived()) << bytes;
    EXPECT_FALSE(in.busy());
  }
}

TEST(Channel, A_receive_that_is_begun_copies_nothing_long) {
  Ring ring(RingShape{4, 8192});
  ChannelSender out(ring.channel);
  ChannelReceiver in(ring.channel);
  Letter longer(key_of(0), 8000, 1, 1), shorter(key_of(1), 4000, 1, 2);
  out.start(longer.send);
  out.start(shorter.send);
  in.start(longer.receive);
  EXPECT_EQ(longer.received[0], std::byte{0xee});
  in.start(shorter.receive);
  EXPECT_TRUE(in.progress());
  EXPECT_TRUE(longer.arrived());
  EXPECT_TRUE(shorter.arrived());
  EXPECT_FALSE(in.busy() || out.busy());
}

TEST(Channel, A_long_message_arrives_by_stores_of_both_kinds) {
  for (const kernels::CopyVariant& stores : kernels::copy_variants()) {
    Ring ring(RingShape{4, 8192});
    ChannelSender out(ring.channel, ChannelSender::never_offered, kernels::copy_plan_of(stores));
    ChannelReceiver in(ring.channel);
    Letter letter(key_of(0), 99'999, 1, 1);
    out.start(letter.send);
    in.start(letter.receive);
    while (in.busy()) EXPECT_TRUE(in.progress() | out.progress()) << stores.name;
    EXPECT_TRUE(letter.arrived()) << stores.name;
  }
}

TEST(Channel, A_message_larger_than_the_ring_streams_through_it) {
  Ring ring(small);
  ChannelSender out(ring.channel);
  ChannelReceiver in(ring.channel);
  Letter letter(key_of(0), 10'000, 8, 1);
  in.start(letter.receive);
  out.start(letter.send);
  EXPECT_TRUE(out.busy()) << "a ring of 1 KiB cannot hold 10 kB";
  for (int i = 0; i < 100 && !(letter.arrived() && !out.busy()); ++i) out.progress(), in.progress();
  EXPECT_TRUE(letter.arrived());
  EXPECT_EQ(letter.send_open, 0);
}

TEST(Channel, Pieces_of_any_length_arrive_in_order) {
  for (std::int64_t piece : {1, 3, 100, 257, 999}) {
    Ring ring(small);
    ChannelSender out(ring.channel);
    ChannelReceiver in(ring.channel);
    Letter letter(key_of(0), 900, 1, 5);
    letter.scatter(piece);
    out.start(letter.send);
    in.start(letter.receive);
    EXPECT_TRUE(letter.arrived()) << piece;
  }
}

TEST(Channel, An_element_larger_than_a_slot_is_taken_whole) {
  Ring ring(small);
  ChannelSender out(ring.channel);
  ChannelReceiver in(ring.channel);
  Letter letter(key_of(0), 3 * 700, 700, 9);
  in.start(letter.receive);
  out.start(letter.send);
  for (int i = 0; i < 20; ++i) out.progress(), in.progress();
  EXPECT_TRUE(letter.arrived());
}

TEST(Channel, A_message_that_is_not_expected_yet_does_not_hold_up_the_next) {
  Ring ring(small);
  ChannelSender out(ring.channel);
  ChannelReceiver in(ring.channel);
  Letter first(key_of(0, 1), 5'000, 1, 1), second(key_of(0, 2), 16, 1, 2);
  out.start(first.send);
  out.start(second.send);
  in.start(second.receive);
  for (int i = 0; i < 100; ++i) out.progress(), in.progress();
  EXPECT_TRUE(second.arrived());
  EXPECT_EQ(in.unexpected_messages(), 1);
  in.start(first.receive);
  EXPECT_TRUE(first.arrived());
  EXPECT_EQ(in.unexpected_messages(), 0);
}

TEST(Channel, A_receive_started_while_its_message_is_being_set_aside_gets_all_of_it) {
  Ring ring(small);
  ChannelSender out(ring.channel);
  ChannelReceiver in(ring.channel);
  Letter first(key_of(0, 1), 5'000, 1, 1), second(key_of(0, 2), 16, 1, 2);
  out.start(first.send);
  out.start(second.send);
  in.start(second.receive); // takes what the ring holds of `first`
  EXPECT_FALSE(second.arrived());
  in.start(first.receive);
  for (int i = 0; i < 100; ++i) out.progress(), in.progress();
  EXPECT_TRUE(first.arrived());
  EXPECT_TRUE(second.arrived());
  EXPECT_FALSE(in.busy());
}

TEST(Channel, What_nobody_expects_stays_in_the_ring) {
  Ring ring(small);
  ChannelSender out(ring.channel);
  ChannelReceiver in(ring.channel);
  Letter letter(key_of(0), 100, 1, 1);
  out.start(letter.send);
  EXPECT_FALSE(in.progress());
  EXPECT_EQ(in.unexpected_messages(), 0);
}

// The receiver describes `expected` bytes where `sent` bytes come; the rest of its memory must not be written.
void expect_wrong_length(std::int64_t sent, std::int64_t expected, bool set_aside, bool starts_first) {
  Ring ring(small);
  ChannelSender out(ring.channel);
  ChannelReceiver in(ring.channel);
  transport::MessageKey key = key_of(3, 1);
  key.peer = Rank{5};
  Letter long_one(key, sent, 1, 1), short_one(key, expected, 1, 1), other(key_of(0, 2), 8, 1, 2);
  transport::ReceiveRequest& receive = short_one.receive;
  if (starts_first) in.start(receive);
  out.start(long_one.send);
  if (set_aside) in.start(other.receive);
  for (int i = 0; i < 30; ++i) out.progress(), in.progress();
  if (!starts_first) in.start(receive);
  for (int i = 0; i < 30; ++i) out.progress(), in.progress();
  ASSERT_TRUE(in.error()) << sent << " for " << expected;
  const std::string sentence = in.error()->sentence();
  for (const std::string& words : {fmt::format("{} bytes", expected), fmt::format("{} bytes arrived", sent),
                                   std::string("lane 1"), std::string("rank 5"), std::string("same count")})
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
  EXPECT_TRUE(in.busy());
  EXPECT_EQ(short_one.receive_open, 1);
  EXPECT_EQ(short_one.received, std::vector<std::byte>(short_one.received.size(), std::byte{0xee}));
}

TEST(Channel, A_message_of_another_length_is_an_error_and_writes_nothing) {
  for (const auto& [sent, expected] : {std::pair{16, 8}, {8, 16}, {5'000, 40}, {40, 5'000}, {5'000, 4'000}, {8, 0}})
    for (bool set_aside : {false, true})
      for (bool starts_first : {false, true}) expect_wrong_length(sent, expected, set_aside, starts_first);
}

TEST(Channel, An_end_that_gives_up_is_no_more_waited_for) {
  for (const int before : {0, 1, 3, 4, 9}) { // messages read first; the ring has 4 slots
    Ring ring(small);
    ChannelSender out(ring.channel);
    ChannelReceiver in(ring.channel);
    for (int i = 0; i < before; ++i) {
      Letter letter(key_of(i), 8, 1, i);
      out.start(letter.send);
      in.start(letter.receive);
      EXPECT_TRUE(letter.arrived());
    }
    EXPECT_FALSE(in.error());
    out.give_up();
    in.progress();
    EXPECT_FALSE(in.error()) << "nothing is awaited";
    Letter awaited(key_of(before), 8, 1, before);
    in.start(awaited.receive);
    ASSERT_TRUE(in.error()) << before;
    EXPECT_TRUE(in.error()->elsewhere);
    EXPECT_EQ(awaited.receive_open, 1);
  }
}

TEST(Channel, A_sender_learns_that_its_receiver_has_given_up) {
  Ring ring(small);
  ChannelSender out(ring.channel);
  ChannelReceiver in(ring.channel);
  in.give_up();
  std::deque<Letter> letters;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(out.has_lost_peer());
    out.start(letters.emplace_back(key_of(i), 8, 1, i).send);
  }
  EXPECT_TRUE(out.has_lost_peer()) << "where there is no room";
  EXPECT_TRUE(out.busy());
  EXPECT_FALSE(out.progress());
}

TEST(Channel, A_message_of_other_elements_is_an_error) {
  Ring ring(small);
  ChannelSender out(ring.channel);
  ChannelReceiver in(ring.channel);
  Letter sent(key_of(0), 2'400, 4, 1), expected(key_of(0), 2'400, 24, 1); // 256 bytes at a time
  out.start(sent.send);
  in.start(expected.receive);
  ASSERT_TRUE(in.error());
  EXPECT_NE(in.error()->sentence().find("the element size 24"), std::string::npos) << in.error()->sentence();
}

TEST(Channel, A_message_set_aside_finds_its_room_at_its_first_chunk) {
  Ring ring(small);
  ChannelSender out(ring.channel);
  ChannelReceiver in(ring.channel);
  Letter early(key_of(0, 1), 100'000, 1, 1), other(key_of(0, 2), 16, 1, 2);
  out.start(early.send);
  in.start(other.receive); // the ring's 1 KiB of it are set aside
  EXPECT_EQ(in.unexpected_messages(), 1);
  EXPECT_GE(in.unexpected_bytes(), 100'000);
}

TEST(Channel, Every_part_of_the_key_tells_messages_apart) {
  std::vector<transport::MessageKey> keys = {key_of(0), key_of(1), key_of(0, 1), key_of(0, 0, 1),
                                             key_of(0, 0, 0, true)};
  transport::MessageKey later = key_of(0);
  later.instance = 1;
  keys.push_back(later);
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t j = 0; j < keys.size(); ++j) EXPECT_EQ(channel_key(keys[i]) == channel_key(keys[j]), i == j);
}

// Two threads; each starts the same messages in its own random order.
TEST(Channel, Random_orders_at_both_ends_always_match) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    Ring ring(seed % 2 ? small : RingShape{2, 64});
    const bool may_read = can_read(own_probe());
    const std::int64_t offered =
        seed % 3 == 0 || !may_read ? ChannelSender::never_offered : static_cast<std::int64_t>(1 + random() % 300);
    std::vector<std::unique_ptr<Letter>> letters;
    for (std::int32_t i = 0; i < 60; ++i) {
      const std::int64_t element_bytes = std::int64_t{1} << random() % 4;
      const bool signal = random() % 8 == 0;
      const std::int64_t bytes = signal ? 0 : element_bytes * static_cast<std::int64_t>(1 + random() % 300);
      letters.push_back(std::make_unique<Letter>(key_of(i / 6, i % 3, i % 2, signal), bytes, element_bytes, i));
      if (bytes > 0 && random() % 3 == 0) letters.back()->scatter(1 + static_cast<std::int64_t>(random() % 50));
    }
    const auto shuffled = [&] {
      std::vector<Letter*> order;
      for (const auto& letter : letters) order.push_back(letter.get());
      std::shuffle(order.begin(), order.end(), random);
      return order;
    };
    const std::vector<Letter*> send_order = shuffled(), receive_order = shuffled();
    std::thread sender([&] {
      ChannelSender out(ring.channel, offered);
      for (Letter* letter : send_order) out.start(letter->send), out.progress();
      while (out.busy()) {
        if (!out.progress()) std::this_thread::yield();
      }
    });
    ChannelReceiver in(ring.channel, own_probe().process);
    for (Letter* letter : receive_order) in.start(letter->receive), in.progress();
    while (in.busy())
      if (!in.progress()) std::this_thread::yield();
    sender.join();
    for (const auto& letter : letters) ASSERT_TRUE(letter->arrived()) << "seed " << seed;
  }
}

TEST(RingShape, Shrinks_with_the_memory_and_gives_up_in_the_end) {
  const RingShape wide = ring_shape_for(4, std::int64_t{1} << 30), narrow = ring_shape_for(4, 1 << 20);
  EXPECT_GT(wide.slot_bytes, narrow.slot_bytes);
  for (std::int32_t ranks : {2, 4, 64})
    for (std::int64_t limit : {1 << 16, 1 << 20, 1 << 26}) {
      const RingShape shape = ring_shape_for(ranks, limit);
      EXPECT_LE(shape.slots == 0 ? 0 : shape.channel_bytes() * ranks * (ranks - 1), limit);
    }
  EXPECT_EQ(ring_shape_for(4, 1000).slots, 0);
  EXPECT_EQ(wide.channel_bytes() % cache_line_bytes, 0);
}

} // namespace
} // namespace kumihimo::shared_memory
