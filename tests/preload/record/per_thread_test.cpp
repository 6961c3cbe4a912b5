#include "record/per_thread.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

using namespace kumihimo::record;

namespace {

struct Count {
  int n = 0;
};

TEST(PerThread, GoesOnFromThreadToThread) {
  PerThread<Count>::mine().n = 1;
  for (int i = 0; i < 20; ++i) std::thread([] { ++PerThread<Count>::mine().n; }).join();
  std::vector<int> counts;
  PerThread<Count>::each([&](const Count& count) { counts.push_back(count.n); });
  EXPECT_EQ(counts, (std::vector<int>{1, 20}));
  EXPECT_EQ(PerThread<Count>::threads(), 21u);
}

TEST(PerThread, IsApartForThreadsAtOnce) {
  struct Other : Count {};
  std::latch all_there(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      ++PerThread<Other>::mine().n;
      all_there.arrive_and_wait();
      ++PerThread<Other>::mine().n;
    });
  for (std::thread& thread : threads) thread.join();
  int objects = 0;
  PerThread<Other>::each([&](const Other& other) {
    ++objects;
    EXPECT_EQ(other.n, 2);
  });
  EXPECT_EQ(objects, 8);
}

} // namespace
