// Receive buffers of one process whose messages are delivered at once: which channels its peers get, and the memory of
// it.
#include "channel_model.hpp"
#include "fabric/channel_memory.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

namespace kumihimo::fabric {
namespace {

using namespace testing; // NOLINT(google-build-using-namespace)

// --- K's sizes

// A receiver and its senders over a network that delivers at once, with the receiver's memory.
struct ReceiverWithSenders {
  TwoModeChannels receiver;
  ChannelSlots memory;
  std::vector<TwoModeChannels> senders;
  std::vector<AddressedMessage> held; // offers, while they are held up
  bool holds_offers = false;
  std::int32_t dead = -1; // it hears and says nothing

  ReceiverWithSenders(const ChannelSizes& sizes, std::size_t count)
      : receiver(sizes), memory(sizes), senders(count, TwoModeChannels(sizes)) {}
  void settle(std::int32_t peer) {
    for (bool moved = true; moved;) {
      moved = false;
      for (const ChannelChange& change : receiver.take_changes()) memory.apply(change);
      for (const AddressedMessage& m : senders[static_cast<std::size_t>(peer)].take_outgoing())
        receiver.take(peer, m.message), moved = true;
      for (const AddressedMessage& m : receiver.take_outgoing()) {
        moved = true;
        if (m.peer == dead) continue;
        if (holds_offers && m.message.kind == ChannelMessage::Kind::offer)
          held.push_back(m);
        else
          senders[static_cast<std::size_t>(m.peer)].take(0, m.message), settle(m.peer);
      }
    }
  }
  // True: it went at once, through a slot in which it was kept.
  bool send(std::int32_t peer, std::int64_t bytes) {
    const std::optional<ChannelEpoch> slot = senders[static_cast<std::size_t>(peer)].take_slot(0, bytes);
    if (!slot) {
      receiver.hear(peer);
    } else {
      receiver.arrive(peer, *slot);
      settle(peer);
      const std::vector<std::byte> data(static_cast<std::size_t>(bytes), std::byte{7});
      const std::byte* const kept = memory.keep(peer, *slot, data);
      EXPECT_TRUE(kept && std::equal(data.begin(), data.end(), kept));
      memory.give(peer, *slot, kept);
      receiver.empty(peer, *slot);
    }
    settle(peer);
    EXPECT_EQ(receiver.violation(), "");
    EXPECT_EQ(memory.bytes(), receiver.receive_bytes());
    return slot.has_value();
  }
};

TEST(TwoModeChannels, A_peer_is_promoted_after_15_messages_and_no_more_than_the_limit_are_large) {
  ChannelSizes sizes;
  sizes.most_large = 2;
  sizes.demotes = false; // as on K
  ReceiverWithSenders all(sizes, 4);
  EXPECT_EQ(all.receiver.receive_bytes(), 0);
  for (int message = 1; message <= 16; ++message)
    for (std::int32_t peer = 1; peer <= 3; ++peer) {
      EXPECT_NE(all.receiver.mode_of(peer), ChannelMode::large) << message;
      EXPECT_EQ(all.send(peer, 100), message > 1) << message;
      if (message == 16 && peer < 3) {
        EXPECT_EQ(all.receiver.mode_of(peer), ChannelMode::large);
      }
    }
  EXPECT_EQ(all.receiver.mode_of(3), ChannelMode::small) << "two are large already";
  EXPECT_EQ(all.receiver.receive_bytes(), 2 * (1 << 20) + 2048);
}

TEST(TwoModeChannels, Each_mode_has_its_longest_eager_message) {
  ReceiverWithSenders all(ChannelSizes{}, 2);
  EXPECT_FALSE(all.send(1, 1)) << "the first contact";
  EXPECT_TRUE(all.send(1, 128));
  EXPECT_FALSE(all.send(1, 129));
  for (int message = 0; message < 15; ++message) all.send(1, 13'700);
  EXPECT_TRUE(all.send(1, 13'700));
  EXPECT_FALSE(all.send(1, 13'701));
}

// Messages that come between the offer of a small channel and its confirmation are of the large one.
TEST(TwoModeChannels, A_peer_that_was_demoted_while_it_sent_much_is_promoted_again) {
  ChannelSizes sizes;
  sizes.most_large = 1;
  ReceiverWithSenders all(sizes, 3);
  for (int message = 0; message < 16; ++message) all.send(1, 100);
  ASSERT_EQ(all.receiver.mode_of(1), ChannelMode::large);
  for (int message = 0; message < 15; ++message) all.send(2, 100);
  all.holds_offers = true;
  all.send(2, 100); // the first one is to be small again
  ASSERT_EQ(all.held.size(), 1u);
  for (int message = 0; message < 20; ++message) EXPECT_TRUE(all.send(1, 100));
  all.holds_offers = false;
  all.senders[1].take(0, all.held[0].message);
  all.settle(1);
  ASSERT_EQ(all.receiver.mode_of(1), ChannelMode::small);
  all.send(2, 100); // it no longer waited
  EXPECT_EQ(all.receiver.mode_of(2), ChannelMode::large);
  for (int message = 0; message < 40 && all.receiver.mode_of(1) != ChannelMode::large; ++message) all.send(1, 100);
  EXPECT_EQ(all.receiver.mode_of(1), ChannelMode::large);
}

// --- lost peers

// A dead peer confirms no offer, so its large channel would never make room for another's.
TEST(TwoModeChannels, The_large_channel_of_a_lost_peer_goes_to_another) {
  for (const bool is_lost : {false, true}) {
    ChannelSizes sizes;
    sizes.most_large = 1;
    ReceiverWithSenders all(sizes, 4);
    for (int message = 0; message < 16; ++message) all.send(1, 100);
    ASSERT_EQ(all.receiver.mode_of(1), ChannelMode::large);
    all.dead = 1;
    if (is_lost) all.receiver.lose(1), all.settle(0);
    EXPECT_EQ(all.memory.bytes(), is_lost ? 0 : 1 << 20);
    for (int message = 0; message < 40; ++message) all.send(2, 100);
    EXPECT_EQ(all.receiver.mode_of(2), is_lost ? ChannelMode::large : ChannelMode::small);
  }
}

// Two peers have the large channels, and the one that has been idle longest cannot give its up: it is dead and nobody
// knows, or it is lost and the program has not taken its message. The other's goes.
TEST(TwoModeChannels, A_channel_that_cannot_go_holds_up_no_candidate) {
  for (const bool is_lost : {false, true}) {
    ChannelSizes sizes;
    sizes.most_large = 2;
    ReceiverWithSenders all(sizes, 4);
    for (const std::int32_t peer : {1, 2})
      for (int message = 0; message < 16; ++message) all.send(peer, 100);
    if (is_lost) {
      all.receiver.arrive(1, all.senders[1].take_slot(0, 3).value());
      all.send(2, 100); // used later
      all.receiver.lose(1);
    }
    all.dead = 1;
    ASSERT_EQ(all.receiver.channels(ChannelMode::large), 2);
    for (int message = 0; message < 40; ++message) all.send(3, 100);
    EXPECT_EQ(all.receiver.mode_of(3), ChannelMode::large) << is_lost;
    EXPECT_EQ(all.receiver.mode_of(2), ChannelMode::small) << is_lost;
    EXPECT_EQ(all.receiver.channels(ChannelMode::large), 2);
  }
}

TEST(TwoModeChannels, A_slot_of_a_lost_peer_stays_until_its_message_was_taken) {
  ReceiverWithSenders all(ChannelSizes{}, 3);
  for (int message = 0; message < 2; ++message) all.send(1, 100);
  const std::optional<ChannelEpoch> slot = all.senders[1].take_slot(0, 3);
  ASSERT_TRUE(slot);
  all.receiver.arrive(1, *slot);
  const std::vector<std::byte> data(3, std::byte{9});
  const std::byte* const kept = all.memory.keep(1, *slot, data);
  all.receiver.lose(1);
  all.settle(0);
  EXPECT_EQ(all.memory.bytes(), 2048);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), kept));
  all.memory.give(1, *slot, kept);
  all.receiver.empty(1, *slot);
  all.settle(0);
  EXPECT_EQ(all.memory.bytes(), 0);
  EXPECT_EQ(all.receiver.violation(), "");
  EXPECT_FALSE(all.receiver.take_slot(1, 1)) << "nothing goes to it";
}

// At any time, also while a channel changes and while others wait for its room.
TEST(TwoModeChannels, Peers_lost_at_random_leave_no_memory_and_block_nobody) {
  std::mt19937 random(5);
  std::int64_t large = 0;
  for (int run = 0; run < 500; ++run) {
    ChannelSizes sizes = tiny(1 + random() % 3, 1 + random() % 3, 1 + random() % 4, 1);
    if (random() % 2 == 0) sizes.pool_slots = 1 + static_cast<std::int64_t>(random() % 5);
    ReceiverWithSenders all(sizes, 6);
    const auto send_some = [&](std::int32_t last, int count) {
      for (int i = 0; i < count; ++i)
        all.send(1 + static_cast<std::int32_t>(random() % static_cast<unsigned>(last)), 1);
    };
    send_some(5, 30);
    all.holds_offers = true;
    send_some(5, static_cast<int>(random() % 20));
    for (const std::int32_t peer : {3, 4, 5}) all.receiver.lose(peer), all.settle(0);
    all.holds_offers = false;
    for (const AddressedMessage& m : std::exchange(all.held, {})) {
      all.senders[static_cast<std::size_t>(m.peer)].take(0, m.message); // a lost one may still hear and answer
      all.settle(m.peer);
    }
    for (const std::int32_t peer : {3, 4, 5}) EXPECT_EQ(all.receiver.mode_of(peer), ChannelMode::none);
    send_some(2, 30);
    EXPECT_TRUE(all.receiver.is_at_rest());
    EXPECT_EQ(all.receiver.violation(), "");
    large += all.receiver.channels(ChannelMode::large);
    for (const std::int32_t peer : {1, 2}) all.receiver.lose(peer), all.settle(0);
    for (const ChannelMode mode : {ChannelMode::small, ChannelMode::large}) EXPECT_EQ(all.receiver.channels(mode), 0);
  }
  EXPECT_GT(large, 400) << "the one large channel is used";
}

// --- memory

// What the process has allocated, in bytes.
std::int64_t allocated_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

struct GoalOfMemory {
  std::int64_t large, pool, most_bytes;
};

// All peers of the whole K computer, each contacted once, 1,024 of them promoted where the limit allows it.
TEST(TwoModeChannels, The_memory_of_82944_peers_stays_below_the_goals) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer's memory would be counted";
#endif
  for (const GoalOfMemory& goal : {GoalOfMemory{1024, 0, 1'300'000'000}, {32, 0, 200 << 20}, {32, 4096, 64 << 20}}) {
    ChannelSizes sizes;
    sizes.most_large = goal.large;
    sizes.pool_slots = goal.pool;
    const std::int64_t before = allocated_bytes();
    TwoModeChannels receiver(sizes);
    ChannelSlots memory(sizes);
    const auto hear = [&](std::int32_t peer) {
      receiver.hear(peer);
      for (bool moved = true; moved;) {
        for (const ChannelChange& change : receiver.take_changes()) memory.apply(change);
        const std::vector<AddressedMessage> said = receiver.take_outgoing();
        for (const AddressedMessage& m : said)
          receiver.take(m.peer, {ChannelMessage::Kind::confirm, m.message.mode, m.message.epoch, 0});
        moved = !said.empty();
      }
    };
    EXPECT_LE(allocated_bytes() - before, 2048); // of empty tables
    for (std::int32_t peer = 0; peer < 82'944; ++peer) hear(peer);
    for (int message = 0; message < 15; ++message)
      for (std::int32_t peer = 0; peer < 1024; ++peer) hear(peer);
    EXPECT_EQ(receiver.violation(), "");
    EXPECT_EQ(receiver.channels(ChannelMode::large), goal.large);
    EXPECT_EQ(memory.bytes(), receiver.receive_bytes());
    const std::int64_t bytes = allocated_bytes() - before;
    RecordProperty("bytes_of_a_peer", static_cast<int>((bytes - memory.bytes()) / 82'944));
    EXPECT_LT(bytes, goal.most_bytes) << goal.large << " " << goal.pool;
  }
}

TEST(ChannelSizes, Are_read_from_words_or_refused_with_the_value) {
  const auto read = channel_sizes_in("SIZES", "large=32,pool=4096,after=3");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->most_large, 32);
  EXPECT_EQ(read->pool_slots, 4096);
  EXPECT_EQ(read->promoted_after, 3);
  EXPECT_EQ(read->large_eager_bytes, 13'700);
  for (const std::string words : {"", "large", "large=", "large=x", "large=-1", "big=3", "small_slots=65", "large=1,",
                                  "large_bytes=4096", "small_bytes=20000"}) {
    const auto wrong = channel_sizes_in("SIZES", words);
    ASSERT_FALSE(wrong.ok()) << words;
    EXPECT_NE(wrong.error().sentence().find("SIZES"), std::string::npos);
  }
}

} // namespace
} // namespace kumihimo::fabric
