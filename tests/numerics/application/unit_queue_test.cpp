#include "application/unit_queue.hpp"
#include "loopback/loopback.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace kumihimo::application {
namespace {

using transport::Loopback, transport::LoopbackOptions, transport::Transport;

// Falling costs, as the queue expects.
std::vector<double> costs_of(int units) {
  std::vector<double> costs;
  for (int i = 0; i < units; ++i) costs.push_back(1.0 / (1 + i));
  return costs;
}

// How often each unit was dealt in each of two rounds.
std::vector<int> dealt(std::int32_t ranks, int units, int helpers, double static_share, std::uint64_t seed) {
  Loopback loopback(ranks, {.delays = true, .seed = seed});
  // Relaxed, so that the threads meet in the queue alone: the thread sanitizer finds what the queue does not order.
  std::vector<std::atomic<int>> times(static_cast<std::size_t>(units));
  const Status outcome = run_ranks(loopback, ranks, [&](Rank rank, Transport& transport) -> Status {
    const std::unique_ptr<UnitQueue> queue = TRY(UnitQueue::make(&transport, rank.value, ranks));
    for (int round = 0; round < 2; ++round) {
      queue->begin(costs_of(units), static_share);
      const auto work = [&](bool is_first) {
        for (std::int64_t unit; (unit = queue->next(is_first)) >= 0;)
          times[static_cast<std::size_t>(unit)].fetch_add(1, std::memory_order_relaxed);
      };
      std::vector<std::jthread> team;
      for (int i = 0; i < helpers; ++i) team.emplace_back(work, false);
      work(true);
      team.clear();
      TRY(queue->end());
    }
    return Nothing{};
  });
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  return {times.begin(), times.end()};
}

TEST(UnitQueue, DealsEachUnitOnce) {
  for (const std::int32_t ranks : {2, 3, 5})
    for (const int units : {0, 1, 7, 100})
      for (const double static_share : {0.0, 0.5, 1.0})
        EXPECT_EQ(dealt(ranks, units, ranks == 3 ? 2 : 0, static_share, 17), std::vector<int>(units, 2))
            << ranks << " ranks, " << units << " units, static " << static_share;
}

TEST(UnitQueue, OneRankNeedsNoTransport) {
  const std::unique_ptr<UnitQueue> queue = *UnitQueue::make(nullptr, 0, 1);
  queue->begin(costs_of(5), 0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(queue->next(true), i);
  EXPECT_EQ(queue->next(true), -1);
  EXPECT_TRUE(queue->end());
}

// A rank that is slow gets few units: it holds the others up by one chunk at most.
TEST(UnitQueue, SlowRanksGetLess) {
  Loopback loopback(2, {});
  int slow = 0, fast = 0;
  const Status outcome = run_ranks(loopback, 2, [&](Rank rank, Transport& transport) -> Status {
    const std::unique_ptr<UnitQueue> queue = TRY(UnitQueue::make(&transport, rank.value, 2));
    queue->begin(std::vector<double>(200, 1), 0);
    while (queue->next(true) >= 0) {
      ++(rank.value == 1 ? slow : fast);
      std::this_thread::sleep_for(std::chrono::microseconds(rank.value == 1 ? 2000 : 50));
    }
    return queue->end();
  });
  EXPECT_TRUE(outcome);
  EXPECT_EQ(slow + fast, 200);
  EXPECT_LT(slow, 70); // half of them would be 100; the first chunk is 50
}

} // namespace
} // namespace kumihimo::application
