// Slots of channels when a communicator fails, or a peer is lost: others of the process share them.
#include "message_ranks.hpp"

#include <cstring>

namespace kumihimo::fabric {
namespace {

using namespace testing; // NOLINT(google-build-using-namespace)

// Communicators share the slots: what one of them leaves full, all others lack.
class SlotsOfAFailedCommunicator : public FabricMessagesTest {
 protected:
  static constexpr std::int32_t failing = 0, other = 1; // communicators
  static constexpr int count = 10;

  void SetUp() override {
    FabricMessagesTest::SetUp();
    if (IsSkipped()) return;
    ranks_ = std::make_unique<RanksOfMessages>(2, options(), 2);
    for (std::int64_t turn = 0; turn < 4; ++turn) ASSERT_TRUE(exchange_on(other, turn * 100)) << turn;
    ASSERT_EQ(ranks_->port(1).short_messages().channels().mode_of(peer), ChannelMode::large);
  }
  bool exchange_on(std::int32_t network, std::int64_t first) {
    std::vector<Planned> plans = all_pairs(2, std::vector<std::int64_t>(20, 40));
    for (Planned& plan : plans) plan.segment += first;
    const auto part = [&](std::int32_t r, FabricMessages& messages) { return exchange(messages, r, plans, 1); };
    return ranks_->run(part, network).ok();
  }
  // Rank 0 sends messages that rank 1 does not expect, until all have come; rank 1 drives one communicator alone, so
  // those of the other stay in its inbox.
  void send(std::int32_t driven) {
    const std::int64_t slots_before = ranks_->port(0).short_messages().channels().slots_to(peer);
    const std::int64_t arrived_before = filled();
    for (int i = 0; i < count; ++i)
      ranks_->of(0, failing).send(ends_.emplace_back(Planned{0, 1, 1000 + std::ssize(ends_), 40}, true).send);
    ASSERT_EQ(ranks_->port(0).short_messages().channels().slots_to(peer), slots_before - count) << "not all are eager";
    const std::int64_t expected = arrived_before + (fails_at_once(driven) ? 0 : count);
    turn_until(driven, [&] { return ranks_->of(0, failing).drained() && filled() == expected; });
  }
  template <typename Done>
  void turn_until(std::int32_t driven, const Done& done) {
    const auto late = Clock::now() + testing::time_limit;
    for (int after = 0; after < 200; after += done() ? 1 : 0) {
      ASSERT_LT(Clock::now(), late);
      ranks_->of(0, failing).progress();
      ranks_->of(0, other).progress();
      ranks_->of(1, driven).progress();
    }
  }
  bool fails_at_once(std::int32_t driven) { return driven == failing && ranks_->of(1, failing).error(); }
  std::int64_t filled() { return ranks_->port(1).short_messages().channels().slots_filled_by(peer); }
  void expect_all_slots_empty() {
    turn_until(other, [&] { return filled() == 0; });
    EXPECT_EQ(ranks_->port(1).short_messages().kept(), 0);
    EXPECT_EQ(ranks_->port(0).short_messages().channels().slots_to(peer) +
                  ranks_->port(1).short_messages().channels().slots_owed_to(peer),
              ChannelSizes{}.large_slots);
    EXPECT_EQ(ranks_->port(1).short_messages().channels().violation(), "");
    EXPECT_TRUE(exchange_on(other, 5000));
  }

  static constexpr PeerId peer = 0; // the one that each port has met
  std::unique_ptr<RanksOfMessages> ranks_;
  std::deque<MessageEnd> ends_;
};

INSTANTIATE_TEST_SUITE_P(Providers, SlotsOfAFailedCommunicator,
                         ::testing::Values(MessageRow{"rxm", "tcp;ofi_rxm"}, MessageRow{"net", "net"},
                                           MessageRow{"shm", "shm"}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(SlotsOfAFailedCommunicator, Are_empty_of_messages_that_came_before_and_after) {
  send(failing);
  EXPECT_EQ(ranks_->port(1).short_messages().kept(), count);
  send(other);
  EXPECT_EQ(filled(), 2 * count) << "half of them in the inbox";
  ranks_->of(1, failing).abandon(failed("somebody else failed"));
  EXPECT_EQ(ranks_->port(1).short_messages().kept(), 0);
  EXPECT_EQ(filled(), count) << "those of the inbox";
  turn_until(failing, [&] { return filled() == 0; });
  send(failing);
  expect_all_slots_empty();
}

TEST_P(SlotsOfAFailedCommunicator, Are_empty_when_it_is_freed_with_messages_kept_and_in_its_inbox) {
  send(failing);
  send(other);
  ASSERT_EQ(filled(), 2 * count);
  ranks_->free(1, failing);
  EXPECT_EQ(filled(), 0);
  for (int i = 0; i < count; ++i) // to one that is no more
    ranks_->of(0, failing).send(ends_.emplace_back(Planned{0, 1, 1000 + std::ssize(ends_), 40}, true).send);
  turn_until(other, [&] { return ranks_->of(0, failing).drained(); });
  expect_all_slots_empty();
}

// Its messages have slots, so they come although it has failed.
TEST_P(SlotsOfAFailedCommunicator, Are_filled_by_a_sender_that_fails_and_emptied_by_its_receiver) {
  for (int i = 0; i < count; ++i)
    ranks_->of(0, failing).send(ends_.emplace_back(Planned{0, 1, 1000 + std::ssize(ends_), 40}, true).send);
  ranks_->of(0, failing).abandon(failed("somebody else failed"));
  turn_until(failing, [&] { return filled() == count; });
  ranks_->of(1, failing).abandon(failed("the sender failed"));
  expect_all_slots_empty();
}

// A link cut for good under eager messages: whether they came is unknown, so their slots cannot be used again. The port
// gives the peer's channels back, refuses it to every communicator, and still serves the other ranks.
TEST(LostPeer, Leaves_no_channel_and_fails_the_calls_that_need_it_alone) {
  PortOptions options;
  options.provider.provider = "tcp;ofi_rxm"; // net takes messages to a closed endpoint, and tells nobody
  if (const std::string why = obstacle(options.provider.provider); !why.empty()) GTEST_SKIP() << why;
  PortsOfRanks ports = open_ports(3, options);
  std::vector<std::unique_ptr<FabricMessages>> all;
  for (std::int32_t r = 0; r < 3; ++r)
    all.push_back(std::make_unique<FabricMessages>(ports.ports[static_cast<std::size_t>(r)], ports.ranks(r, 1)));
  FabricMessages another(ports.ports[0], ports.ranks(0, 2));
  std::atomic<bool> any_failed = false;
  const auto exchange_among = [&](std::int32_t ranks, std::int64_t first) {
    std::vector<Planned> plans = all_pairs(ranks, std::vector<std::int64_t>(20, 40));
    for (Planned& plan : plans) plan.segment += first;
    return run_threads(
        ranks, [&](std::int32_t r) { return exchange(*all[static_cast<std::size_t>(r)], r, plans, 1); },
        [&](std::int32_t r) {
          all[static_cast<std::size_t>(r)]->progress();
          return all[static_cast<std::size_t>(r)]->drained();
        },
        any_failed);
  };
  for (std::int64_t turn = 0; turn < 4; ++turn) {
    const Status status = exchange_among(3, turn * 100);
    ASSERT_TRUE(status.ok()) << status.error().sentence();
  }
  FabricPort& port = *ports.ports[0];
  ASSERT_EQ(port.short_messages().bytes(), 2 << 20);
  const PeerId lost = *port.meet(std::span(ports.cards).subspan(2 * ports.card_bytes, ports.card_bytes));
  all[2].reset();
  ports.ports[2].reset(); // its connections close
  std::deque<MessageEnd> ends;
  const auto late = std::chrono::steady_clock::now() + time_limit;
  while (!another.error() && std::chrono::steady_clock::now() < late) {
    if (ends.size() < 10) another.send(ends.emplace_back(Planned{0, 2, std::ssize(ends), 40}, true).send);
    another.progress();
  }
  ASSERT_TRUE(another.error());
  EXPECT_TRUE(another.has_lost_peers());
  EXPECT_NE(another.error()->sentence().find("rank 2 of the communicator does not answer"), std::string::npos)
      << another.error()->sentence();
  EXPECT_TRUE(port.has_lost(lost));
  EXPECT_EQ(port.short_messages().bytes(), 1 << 20) << "the other rank's alone";
  EXPECT_EQ(port.short_messages().channels().slots_to(lost), 0);
  const Status after = exchange_among(2, 5000);
  EXPECT_TRUE(after.ok()) << after.error().sentence();
  MessageEnd refused(Planned{2, 0, 9000, 40}, false);
  all[0]->receive(refused.receive);
  ASSERT_TRUE(all[0]->error());
  EXPECT_NE(all[0]->error()->sentence().find("rank 2"), std::string::npos);
}

class LostRanks : public FabricMessagesTest {};

INSTANTIATE_TEST_SUITE_P(Providers, LostRanks,
                         ::testing::Values(MessageRow{"rxm", "tcp;ofi_rxm"}, MessageRow{"net", "net"},
                                           MessageRow{"shm", "shm"}),
                         [](const auto& tested) { return tested.param.name; });

// The other waits without sending, so it would hear of nothing.
TEST_P(LostRanks, A_loss_that_one_side_knows_is_an_error_of_the_other_too) {
  RanksOfMessages ranks(2, options());
  ASSERT_TRUE(ranks.run([&](std::int32_t r, FabricMessages& messages) {
    return exchange(messages, r, all_pairs(2, {100, 10'000}), 1);
  }));
  MessageEnd waiting(Planned{0, 1, 50, 100'000}, false);
  ranks.of(1).receive(waiting.receive);
  constexpr PeerId the_other = 0;
  ranks.port(0).lose(the_other);
  const auto late = Clock::now() + time_limit;
  while (!ranks.of(1).error() && Clock::now() < late) ranks.of(0).progress(), ranks.of(1).progress();
  ASSERT_TRUE(ranks.of(1).error());
  EXPECT_NE(ranks.of(1).error()->sentence().find("it has lost its connection to this process"), std::string::npos)
      << ranks.of(1).error()->sentence();
  EXPECT_TRUE(ranks.port(1).has_lost(the_other));
}

TEST_P(LostRanks, A_communicator_misses_a_rank_that_is_lost_or_whose_process_has_ended) {
  const PortsOfRanks ports = open_ports(2, options());
  FabricRanks ranks = ports.ranks(0);
  EXPECT_FALSE(ranks.misses_one(*ports.ports[0]));
  const PeerId peer = *ports.ports[0]->meet(ranks.card(1));
  EXPECT_FALSE(ranks.misses_one(*ports.ports[0]));
  ports.ports[0]->lose(peer);
  EXPECT_TRUE(ranks.misses_one(*ports.ports[0]));
  FabricRanks others = ports.ranks(1);
  EXPECT_FALSE(others.misses_one(*ports.ports[1]));
  CardHeader ended;
  std::memcpy(&ended, others.cards.data(), sizeof ended);
  ended.process.begun += 1; // its number is another process's now
  std::memcpy(others.cards.data(), &ended, sizeof ended);
  EXPECT_TRUE(others.misses_one(*ports.ports[1]));
}

} // namespace
} // namespace kumihimo::fabric
