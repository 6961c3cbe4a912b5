#include "measure/processor_time.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <thread>

namespace kumihimo::measure {
namespace {

TEST(ProcessorTime, CountsWorkAndNotSleep) {
  const ProcessorTime start = processor_time();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const ProcessorTime slept = processor_time() - start;
  EXPECT_LT(slept.user_seconds + slept.system_seconds, 0.02);
  EXPECT_GE(slept.switches, 1);

  ProcessorTime worked;
  volatile double x = 0;
  while (worked.user_seconds < 0.05) { // ends: work is counted
    const ProcessorTime before = processor_time();
    for (int i = 0; i < 1'000'000; ++i) x = x + 1;
    worked += processor_time() - before;
  }
  EXPECT_GT(worked.user_seconds, worked.system_seconds);
}

TEST(ProcessorTime, TellsTheSystemsPart) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  const ProcessorTime start = processor_time();
  ProcessorTime spent;
  while (spent.system_seconds < 0.05) { // the kernel clears pages
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    munmap(pages, bytes);
    spent = processor_time() - start;
  }
  EXPECT_GT(spent.system_seconds, spent.user_seconds);
}

} // namespace
} // namespace kumihimo::measure
