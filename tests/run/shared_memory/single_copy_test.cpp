// Messages that their receiver reads from the sender's memory: here both are this process.
#include "shared_memory/letters.hpp"
#include "shared_memory/peer_process.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <memory>
#include <string>

namespace kumihimo::shared_memory {
namespace {

using namespace testing;

class SingleCopy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_read(own_probe())) GTEST_SKIP() << "the system lets no process read another's memory";
  }
  Ring ring_{small};
  ChannelSender out_{ring_.channel, 64};
  ChannelReceiver in_{ring_.channel, own_probe().process};
  void turn() {
    for (int i = 0; i < 200; ++i) in_.progress(), out_.progress();
  }
};

TEST_F(SingleCopy, A_long_message_needs_one_slot_and_is_open_until_it_is_read) {
  Letter letter(key_of(0), 100'000, 8, 1);
  out_.start(letter.send);
  EXPECT_EQ(letter.send_open, 1);
  EXPECT_TRUE(out_.busy());
  letter.sent[5] = std::byte{42}; // it is not copied yet
  in_.start(letter.receive);
  EXPECT_EQ(letter.received[0], std::byte{0xee}) << "before its receiver has sent its own";
  EXPECT_TRUE(in_.progress());
  EXPECT_TRUE(letter.arrived());
  EXPECT_EQ(letter.send_open, 1);
  EXPECT_TRUE(out_.progress());
  EXPECT_EQ(letter.send_open, 0);
  EXPECT_FALSE(out_.busy());
}

// So that who waits for a lock of the caller's, and other channels, need not wait for all of it.
TEST_F(SingleCopy, A_very_long_one_is_read_in_parts) {
  for (const bool early : {false, true}) {
    Ring ring(small);
    ChannelSender out(ring.channel, 64);
    ChannelReceiver in(ring.channel, own_probe().process);
    Letter letter(key_of(0, 1), 10'000'000, 8, 1), other(key_of(0, 2), 100, 1, 2), third(key_of(1, 1), 9'000'000, 8, 3);
    out.start(letter.send);
    out.start(other.send);
    out.start(third.send);
    if (early) in.start(other.receive);
    in.start(letter.receive);
    EXPECT_EQ(letter.receive_open, 1);
    in.start(third.receive);
    if (!early) in.start(other.receive);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(!in.busy() || in.progress());
    EXPECT_TRUE(letter.arrived());
    EXPECT_TRUE(other.arrived());
    EXPECT_TRUE(third.arrived());
    while (out.progress()) {
    }
    EXPECT_FALSE(in.busy() || out.busy());
  }
}

TEST_F(SingleCopy, Short_ones_are_copied_and_those_that_may_not_stay) {
  Letter letter(key_of(0), 63, 1, 1), other(key_of(1), 200, 1, 1);
  other.send.allows_single_copy = false;
  out_.start(letter.send);
  out_.start(other.send);
  EXPECT_EQ(letter.send_open, 0);
  EXPECT_EQ(other.send_open, 0);
}

TEST_F(SingleCopy, Pieces_arrive_in_order_and_more_than_a_slot_names_are_copied) {
  for (const std::int64_t piece : {1, 7, 50, 400, 999}) { // a slot of 256 bytes names 16
    Letter letter(key_of(0), 2'000, 1, 5);
    letter.scatter(piece);
    out_.start(letter.send);
    in_.start(letter.receive);
    turn();
    EXPECT_TRUE(letter.arrived()) << piece;
    EXPECT_EQ(letter.send_open, 0);
  }
}

TEST_F(SingleCopy, More_than_one_call_of_the_system_names) {
  Ring ring(RingShape{4, 4096});
  ChannelSender out(ring.channel, 64);
  ChannelReceiver in(ring.channel, own_probe().process);
  Letter letter(key_of(0), 2'000, 1, 5);
  letter.scatter(10); // 200 pieces
  out.start(letter.send);
  EXPECT_EQ(letter.send_open, 1) << "not copied";
  in.start(letter.receive);
  in.progress();
  EXPECT_TRUE(letter.arrived());
}

TEST_F(SingleCopy, What_is_reduced_goes_through_the_reduction_in_whole_elements) {
  const transport::Reduction sum{
      nullptr,
      [](const void*, const void* left, const void* right, void* target, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
          static_cast<std::int32_t*>(target)[i] =
              static_cast<const std::int32_t*>(left)[i] + static_cast<const std::int32_t*>(right)[i];
      },
      nullptr};
  Letter letter(key_of(0), 200'004, 12, 1);
  std::vector<std::int32_t> own(letter.sent.size() / 4);
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<std::int32_t>(i);
  const std::vector<std::int32_t> before = own;
  auto* const place = reinterpret_cast<std::byte*>(own.data());
  static_cast<transport::Sink&>(letter.receive).reduce_into({place, nullptr, 0}, {place, nullptr, 0}, &sum, true, 4);
  out_.start(letter.send);
  in_.start(letter.receive);
  in_.progress();
  EXPECT_EQ(letter.receive_open, 0);
  for (std::size_t i = 0; i < own.size(); ++i) {
    std::int32_t arrived = 0;
    std::memcpy(&arrived, letter.sent.data() + 4 * i, 4);
    ASSERT_EQ(own[i],
              static_cast<std::int32_t>(static_cast<std::uint32_t>(before[i]) + static_cast<std::uint32_t>(arrived)));
  }
}

TEST_F(SingleCopy, Of_one_that_is_early_only_where_it_lies_is_set_aside) {
  Letter early(key_of(0, 1), 100'000, 1, 1), other(key_of(0, 2), 16, 1, 2);
  out_.start(early.send);
  out_.start(other.send);
  in_.start(other.receive);
  EXPECT_TRUE(other.arrived());
  EXPECT_EQ(in_.unexpected_messages(), 1);
  EXPECT_EQ(in_.unexpected_bytes(), 0);
  in_.start(early.receive);
  in_.progress();
  EXPECT_TRUE(early.arrived());
  EXPECT_EQ(in_.unexpected_messages(), 0);
  turn();
  EXPECT_EQ(early.send_open, 0);
}

TEST_F(SingleCopy, More_at_once_than_there_are_tickets) {
  std::deque<Letter> letters;
  for (int i = 0; i < 3 * tickets; ++i) out_.start(letters.emplace_back(key_of(i), 500, 1, i).send);
  for (Letter& letter : letters) in_.start(letter.receive), turn();
  turn();
  for (const Letter& letter : letters) {
    EXPECT_TRUE(letter.arrived());
    EXPECT_EQ(letter.send_open, 0);
  }
  EXPECT_FALSE(out_.busy());
}

TEST_F(SingleCopy, One_of_another_length_is_an_error_and_writes_nothing) {
  for (const bool early : {false, true}) {
    Ring ring(small);
    ChannelSender out(ring.channel, 64);
    ChannelReceiver in(ring.channel, own_probe().process);
    Letter sent(key_of(0), 5'000, 1, 1), expected(key_of(0), 4'000, 1, 1), other(key_of(0, 2), 8, 1, 2);
    out.start(sent.send);
    if (early) in.start(other.receive);
    in.start(expected.receive);
    ASSERT_TRUE(in.error());
    EXPECT_NE(in.error()->sentence().find("4000 bytes"), std::string::npos) << in.error()->sentence();
    EXPECT_EQ(expected.received, std::vector<std::byte>(4'000, std::byte{0xee}));
  }
}

// The sender may do anything with its memory from then on.
TEST_F(SingleCopy, What_was_offered_before_its_sender_gave_up_does_not_count) {
  Letter letter(key_of(0), 1'000, 1, 1);
  out_.start(letter.send);
  out_.give_up();
  letter.sent.assign(1'000, std::byte{});
  in_.start(letter.receive);
  in_.progress();
  ASSERT_TRUE(in_.error());
  EXPECT_TRUE(in_.error()->elsewhere);
  EXPECT_EQ(letter.receive_open, 1);
}

TEST_F(SingleCopy, A_sender_learns_that_its_receiver_has_given_up) {
  Letter letter(key_of(0), 1'000, 1, 1);
  out_.start(letter.send);
  in_.give_up();
  EXPECT_FALSE(out_.progress());
  EXPECT_TRUE(out_.has_lost_peer());
  EXPECT_EQ(letter.send_open, 1);
}

TEST_F(SingleCopy, A_process_that_is_gone_is_an_error) {
  ChannelReceiver in(ring_.channel, std::int64_t{1} << 30); // no process has such a number
  Letter letter(key_of(0), 1'000, 1, 1);
  out_.start(letter.send);
  in.start(letter.receive);
  in.progress();
  ASSERT_TRUE(in.error());
  EXPECT_TRUE(in.error()->elsewhere);
}

// Pages of which the system refuses one for a while, as it does a device's memory.
class Refused : public SingleCopy {
 protected:
  Refused() : page_(sysconf(_SC_PAGESIZE)) {
    void* const mapped =
        mmap(nullptr, static_cast<std::size_t>(bytes()), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pages_ = static_cast<std::byte*>(mapped);
  }
  ~Refused() override { munmap(pages_, static_cast<std::size_t>(bytes())); }
  static constexpr std::int64_t count = 16;
  std::int64_t bytes() const { return count * page_; }
  void protect(std::int64_t page, int how) {
    ASSERT_EQ(mprotect(pages_ + page * page_, static_cast<std::size_t>(page_), how), 0);
  }
  std::unique_ptr<Letter> letter() {
    auto letter = std::make_unique<Letter>(key_of(0), bytes(), 8, 1);
    std::memcpy(pages_, letter->sent.data(), letter->sent.size());
    letter->send.only.data = pages_;
    return letter;
  }
  std::int64_t page_;
  std::byte* pages_ = nullptr;
};

TEST_F(Refused, Is_sent_again_through_the_slots_as_all_later_ones_are) {
  for (const bool early : {false, true}) {
    Ring ring(small);
    ChannelSender out(ring.channel, 64);
    ChannelReceiver in(ring.channel, own_probe().process);
    const auto refused = letter();
    Letter other(key_of(0, 2), 16, 1, 2), later(key_of(1), 500, 1, 3);
    out.start(refused->send);
    out.start(other.send);
    if (early) in.start(other.receive);
    protect(1, PROT_NONE);
    in.start(refused->receive);
    in.progress();
    if (!early) in.start(other.receive);
    EXPECT_EQ(refused->receive_open, 1);
    EXPECT_FALSE(in.error());
    protect(1, PROT_READ | PROT_WRITE);
    for (int i = 0; i < 5000; ++i) out.progress(), in.progress();
    EXPECT_TRUE(refused->arrived());
    EXPECT_TRUE(other.arrived());
    EXPECT_EQ(refused->send_open, 0);
    out.start(later.send);
    EXPECT_EQ(later.send_open, 0) << "copied";
    in.start(later.receive);
    EXPECT_TRUE(later.arrived());
    EXPECT_FALSE(in.busy() || out.busy());
  }
}

TEST_F(Refused, Is_an_error_once_a_part_was_used) {
  const auto refused = letter();
  const std::int64_t half = bytes() / 2;
  const transport::ByteRun runs[] = {{0, half}, {half, half}}; // not one place
  static_cast<transport::Sink&>(refused->receive).copy_into({refused->received.data(), runs, 0}, 8);
  out_.start(refused->send);
  protect(count - 1, PROT_NONE);
  in_.start(refused->receive);
  in_.progress();
  protect(count - 1, PROT_READ | PROT_WRITE);
  ASSERT_TRUE(in_.error());
  EXPECT_NE(in_.error()->sentence().find("another rank's memory"), std::string::npos) << in_.error()->sentence();
  EXPECT_EQ(refused->receive_open, 1);
}

} // namespace
} // namespace kumihimo::shared_memory
