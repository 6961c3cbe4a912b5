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
  CountingFlag flag;
  {
    const CountingFlag::Scope mine(flag, end);
    EXPECT_TRUE(mine);
    EXPECT_FALSE(flag.is_clear_by(Clock::now() + std::chrono::milliseconds(10)));
  }
  EXPECT_TRUE(flag.is_clear_by(Clock::now()));
}

TEST(CountingFlag, IsGivenToNobodyAfterTheEnd) {
  std::atomic<bool> end = true;
  CountingFlag flag;
  const CountingFlag::Scope mine(flag, end);
  EXPECT_FALSE(mine);
}

// The writer reads what a thread counted only once the flag is clear; then nothing changes any more.
TEST(CountingFlag, KeepsTheWriterApartFromThreadsThatRun) {
  for (int run = 0; run < 200; ++run) {
    std::atomic<bool> end = false, stop = false;
    CountingFlag flag;
    std::deque<int> counted;
    std::latch begun(2);
    std::thread thread([&] {
      begun.arrive_and_wait();
      while (!stop) {
        const CountingFlag::Scope mine(flag, end);
        if (mine) counted.push_back(static_cast<int>(counted.size()));
      }
    });
    begun.arrive_and_wait();
    std::this_thread::sleep_for(std::chrono::microseconds(run));
    end = true;
    CountingFlag::fence_all_threads();
    EXPECT_TRUE(flag.is_clear_by(Clock::now() + std::chrono::seconds(10)));
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
