// The counter's clock says what the system's clock says.
#include "measure/clock.hpp"
#include "record/counter_clock.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace kumihimo::record {
namespace {

// Its value lies between two readings of the system's clock, up to the error that it promises.
void follow(std::int64_t ns) {
  constexpr std::int64_t error_ns = 1000;
  std::int64_t last = 0;
  for (const std::int64_t end = measure::now_ns() + ns; measure::now_ns() < end;) {
    const std::int64_t before = measure::now_ns(), told = counter_clock_ns(), after = measure::now_ns();
    ASSERT_GE(told, before - error_ns);
    ASSERT_LE(told, after + error_ns);
    ASSERT_GE(told, last);
    last = told;
  }
}

TEST(CounterClock, FollowsTheSystemsClock) {
  follow(30'000'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // a reading is long ago
  follow(5'000'000);
}

TEST(CounterClock, IsEachThreadsOwn) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(follow, 20'000'000);
  for (std::thread& thread : threads) thread.join();
}

} // namespace
} // namespace kumihimo::record
