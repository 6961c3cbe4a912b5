// Two-sided messages over the providers of libfabric that this machine has: matching, reductions, credits, lengths that
// differ, two communicators in two threads, a process that dies.
#include "message_ranks.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <tuple>

namespace kumihimo::fabric {
namespace {

using namespace testing; // NOLINT(google-build-using-namespace)

INSTANTIATE_TEST_SUITE_P(Providers, FabricMessagesTest, ::testing::ValuesIn(every_message_row),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(FabricMessagesTest, All_messages_of_three_ranks_arrive_in_any_order_of_starting) {
  const std::vector<std::int64_t> sizes = {0, 1, 200, 4096, 4097, 70'000, 300'000, 1 << 20, 524'288, 24, 0, 4100};
  RanksOfMessages ranks(3, options());
  for (unsigned seed = 0; seed < 5; ++seed) {
    const Status status = ranks.run([&](std::int32_t r, FabricMessages& messages) {
      std::vector<Planned> plans = all_pairs(3, sizes);
      for (Planned& plan : plans) plan.segment += seed * 100;
      return exchange(messages, r, plans, seed);
    });
    ASSERT_TRUE(status.ok()) << status.error().sentence();
  }
}

// More short messages than a peer has slots for, all before the first receive.
TEST_P(FabricMessagesTest, Short_messages_without_a_slot_wait_for_their_receivers) {
  RanksOfMessages ranks(2, options());
  const std::vector<std::int64_t> sizes(static_cast<std::size_t>(3 * ChannelSizes{}.large_slots), 40);
  const Status status = ranks.run(
      [&](std::int32_t r, FabricMessages& messages) { return exchange(messages, r, all_pairs(2, sizes), 3, true); });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

TEST_P(FabricMessagesTest, Channels_come_with_the_first_message_and_grow_with_their_use) {
  RanksOfMessages ranks(3, options());
  const auto pair_alone = [](std::int64_t first, std::size_t count) {
    std::vector<Planned> plans = all_pairs(2, std::vector<std::int64_t>(count, 500));
    for (Planned& plan : plans) plan.segment += first;
    return plans;
  };
  const auto run = [&](const std::vector<Planned>& plans) {
    const Status status =
        ranks.run([&](std::int32_t r, FabricMessages& messages) { return exchange(messages, r, plans, 4); });
    EXPECT_TRUE(status.ok()) << status.error().sentence();
  };
  EXPECT_EQ(ranks.port(0).short_messages().bytes(), 0);
  run(pair_alone(0, 3));
  EXPECT_EQ(ranks.port(0).short_messages().channels().mode_of(0), ChannelMode::small);
  EXPECT_EQ(ranks.port(0).short_messages().bytes(), 2048);
  for (std::int64_t turn = 1; turn <= 3; ++turn) run(pair_alone(turn * 100, 20));
  EXPECT_EQ(ranks.port(0).short_messages().channels().mode_of(0), ChannelMode::large);
  EXPECT_EQ(ranks.port(0).short_messages().bytes(), 1 << 20);
  EXPECT_EQ(ranks.port(2).short_messages().bytes(), 0) << "nobody sent to it";
}

TEST_P(FabricMessagesTest, The_receiver_alone_is_told_of_another_length_and_the_sender_goes_on) {
  for (const auto& [sent, expected, early] : {std::tuple{100, 400, false},
                                              {100, 100'000, false},
                                              {100'000, 100, false},
                                              {100'000, 200'000, false},
                                              {100, 100'000, true},
                                              {100'000, 200'000, true},
                                              {200'000, 100'000, true}}) {
    RanksOfMessages ranks(2, options());
    std::string found;
    ranks
        .run([&, sent = sent, expected = expected, early = early](std::int32_t r, FabricMessages& messages) -> Status {
          std::deque<MessageEnd> ends;
          ends.emplace_back(Planned{0, 1, 0, r == 0 ? sent : expected}, r == 0);
          const transport::EarlyReceive place{ends[0].receive.key, ends[0].data.data(), expected, 1};
          if (r == 1 && early) messages.expect(std::span(&place, 1));
          r == 0 ? messages.send(ends[0].send) : messages.receive(ends[0].receive);
          const Status status = wait_for(messages, ends);
          if (r == 0) return status;
          if (!status) found = status.error().sentence();
          const bool untouched =
              std::all_of(ends[0].data.begin(), ends[0].data.end(), [](std::byte b) { return b == std::byte{0xee}; });
          return untouched ? Status(Nothing{}) : Status(failed("bytes of another length were written"));
        })
        .ok();
    EXPECT_NE(found.find("from rank 0 needs " + std::to_string(expected) + " bytes"), std::string::npos) << found;
    EXPECT_NE(found.find(std::to_string(sent) + " bytes arrived"), std::string::npos) << found;
  }
}

// Each thread of a rank drives a communicator of its own, over one port.
TEST_P(FabricMessagesTest, Two_communicators_in_two_threads_share_a_port) {
  RanksOfMessages ranks(2, options(), 2);
  std::vector<std::thread> threads;
  std::atomic<int> ended = 0, good = 0;
  for (std::int32_t r = 0; r < 2; ++r)
    for (std::int32_t network = 0; network < 2; ++network)
      threads.emplace_back([&, r, network] {
        FabricMessages& messages = ranks.of(r, network);
        for (unsigned round = 0; round < 10; ++round) {
          std::vector<Planned> plans = all_pairs(2, {8, 5000, 100'000, 0, 300});
          for (Planned& plan : plans) plan.segment += round * 10 + static_cast<unsigned>(network) * 1000;
          good += exchange(messages, r, plans, round).ok();
        }
        ++ended;
        while (ended < 4) messages.progress(), std::this_thread::yield();
      });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 40);
}

TEST_P(FabricMessagesTest, A_peer_is_met_at_the_first_message_and_no_sooner) {
  RanksOfMessages ranks(3, options());
  EXPECT_EQ(ranks.of(0).met(), 0);
  const Status status = ranks.run([&](std::int32_t r, FabricMessages& messages) -> Status {
    return r == 2 ? Status(Nothing{}) : exchange(messages, r, {Planned{0, 1, 0, 100}}, 1);
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  EXPECT_EQ(ranks.of(0).met(), 1);
  EXPECT_EQ(ranks.of(2).met(), 0);
}

// A time limit counts from the last message that moved.
TEST_P(FabricMessagesTest, Pings_to_a_rank_that_does_not_send_are_no_movement) {
  RanksOfMessages ranks(2, options());
  std::atomic<bool> over = false;
  std::int64_t moved = -1;
  const Status status = ranks.run([&](std::int32_t r, FabricMessages& messages) -> Status {
    if (Status s = exchange(messages, r, {Planned{1, 0, 0, 100}}, 1); !s) return s;
    const auto turn_until = [&](const auto& done) {
      std::int64_t turns = 0;
      for (; !done(); std::this_thread::yield()) turns += messages.progress();
      return turns;
    };
    std::deque<MessageEnd> late;
    late.emplace_back(Planned{1, 0, 1, 100}, r == 1);
    if (r == 0) {
      messages.receive(late[0].receive);
      turn_until([&, until = Clock::now() + std::chrono::milliseconds(100)] { return Clock::now() > until; });
      moved = turn_until([&, until = Clock::now() + std::chrono::milliseconds(1300)] { return Clock::now() > until; });
      over = true;
    } else {
      turn_until([&] { return over.load(); });
      messages.send(late[0].send);
    }
    return wait_for(messages, late);
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  EXPECT_EQ(moved, 0);
}

// The check itself: content that is not the sender's is found.
TEST(FabricMessagesSabotage, Wrong_bytes_are_found) {
  MessageEnd end({0, 1, 0, 5000}, false);
  EXPECT_FALSE(end.is_right());
  end.data = content(5000, end.seed());
  EXPECT_TRUE(end.is_right());
  end.data[4999] ^= std::byte{1};
  EXPECT_FALSE(end.is_right());
}

// A process that is killed while this one waits for it.
TEST_P(FabricMessagesTest, A_killed_peer_is_an_error_that_names_it) {
  struct Meeting {
    std::atomic<int> here;
    std::atomic<int> exchanged;
    std::array<std::byte, 4096> cards;
    std::size_t card_bytes;
  };
  for (const bool waits_to_receive : {true, false}) {
    auto* const meeting = static_cast<Meeting*>(
        mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const auto part = [&](std::int32_t rank) -> std::pair<std::shared_ptr<FabricPort>, FabricRanks> {
      PortOptions wanted = options();
      wanted.provider.one_machine = true;
      auto made = FabricPort::open(wanted);
      if (!made) return {};
      std::shared_ptr<FabricPort> port = std::move(*made);
      const std::vector<std::byte> card = port->card();
      std::copy(card.begin(), card.end(), meeting->cards.begin() + rank * static_cast<std::ptrdiff_t>(card.size()));
      meeting->card_bytes = card.size();
      ++meeting->here;
      while (meeting->here < 2) usleep(100);
      return {port, {1, rank, {meeting->cards.begin(), meeting->cards.begin() + 2 * card.size()}, card.size()}};
    };
    const pid_t child = fork();
    if (child == 0) {
      const auto [port, ranks] = part(1);
      if (!port) _exit(1);
      FabricMessages messages(port, ranks);
      if (!exchange(messages, 1, all_pairs(2, {100, 10'000}), 1)) _exit(1);
      ++meeting->exchanged;
      while (meeting->exchanged < 2) messages.progress();
      for (;;) pause(); // not in a lock of the provider `shm`, which a killed process would leave locked for its peers
    }
    const auto [port, ranks] = part(0);
    ASSERT_TRUE(port);
    FabricMessages messages(port, ranks);
    const Status before = exchange(messages, 0, all_pairs(2, {100, 10'000}), 1);
    ASSERT_TRUE(before.ok()) << before.error().sentence();
    ++meeting->exchanged;
    while (meeting->exchanged < 2) messages.progress();
    std::deque<MessageEnd> ends;
    ends.emplace_back(Planned{waits_to_receive ? 1 : 0, waits_to_receive ? 0 : 1, 50, 100'000}, !waits_to_receive);
    waits_to_receive ? messages.receive(ends[0].receive) : messages.send(ends[0].send);
    for (int turn = 0; turn < 100; ++turn) messages.progress();
    kill(child, SIGKILL);
    const auto killed = Clock::now();
    const Status after = wait_for(messages, ends);
    const double seconds = std::chrono::duration<double>(Clock::now() - killed).count();
    ASSERT_FALSE(after.ok());
    EXPECT_NE(after.error().sentence().find("rank 1 of the communicator"), std::string::npos)
        << after.error().sentence();
    EXPECT_LT(seconds, 5);
    EXPECT_TRUE(messages.has_lost_peers());
    waitpid(child, nullptr, 0);
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      EXPECT_FALSE(entry.path().filename().string().starts_with(std::to_string(child) + ":")) << entry.path();
    munmap(meeting, sizeof(Meeting));
  }
}

} // namespace
} // namespace kumihimo::fabric
