#include "record/per_thread.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <latch>
#include <optional>
#include <thread>

using namespace kumihimo::record;
using Clock = std::chrono::steady_clock;

namespace {

TEST(CountingFlag, IsNotWaitedForWithoutEnd) {
  std::atomic<bool> end = false;
  CountingFlag turn;
  {
    const CountingFlag::Scope mine(turn, end);
    EXPECT_TRUE(mine);
    EXPECT_FALSE(turn.ended_until(Clock::now() + std::chrono::milliseconds(10)));
  }
  EXPECT_TRUE(turn.ended_until(Clock::now()));
}

TEST(CountingFlag, IsGivenToNobodyAfterTheEnd) {
  std::atomic<bool> end = true;
  CountingFlag turn;
  const CountingFlag::Scope mine(turn, end);
  EXPECT_FALSE(mine);
}

// What a thread changes in its turn is read when it has ended its last one, and nothing changes any more.
TEST(CountingFlag, KeepsTheWriterApartFromThreadsThatRun) {
  for (int run = 0; run < 200; ++run) {
    std::atomic<bool> end = false, stop = false;
    CountingFlag turn;
    std::deque<int> counted;
    std::latch begun(2);
    std::thread thread([&] {
      begun.arrive_and_wait();
      while (!stop) {
        const CountingFlag::Scope mine(turn, end);
        if (mine) counted.push_back(static_cast<int>(counted.size()));
      }
    });
    begun.arrive_and_wait();
    std::this_thread::sleep_for(std::chrono::microseconds(run));
    end = true;
    CountingFlag::fence_all_threads();
    EXPECT_TRUE(turn.ended_until(Clock::now() + std::chrono::seconds(10)));
    const std::size_t size = counted.size();
    int expected = 0;
    for (const int n : counted) EXPECT_EQ(n, expected++);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    EXPECT_EQ(counted.size(), size);
    stop = true;
    thread.join();
  }
}

} // namespace
