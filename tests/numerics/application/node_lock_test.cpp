// The lock of a node: one holder at a time on each node, another one on the next.
#include "application/node_lock.hpp"
#include "loopback/run_application.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

namespace kumihimo::application {
namespace {

TEST(NodeLock, HasOneHolderAtATime) {
  std::atomic<int> holders = 0, worst = 0, entries = 0;
  const auto [status, printed] = run_processes(4, false, 1, [&](Processes& processes) -> Status {
    const std::unique_ptr<NodeLock> lock = TRY(NodeLock::make(processes));
    EXPECT_EQ(lock->local_rank(), processes.rank());
    EXPECT_EQ(lock->local_ranks(), 4);
    for (int round = 0; round < 200; ++round) {
      lock->lock();
      const int now = ++holders;
      if (now > worst) worst = now;
      ++entries;
      --holders;
      lock->unlock();
    }
    processes.barrier();
    return Nothing{};
  });
  ASSERT_TRUE(status.ok()) << status.error().sentence();
  EXPECT_EQ(worst, 1);
  EXPECT_EQ(entries, 800);
}

TEST(NodeLock, OneProcessHasItAlone) {
  OneProcess alone;
  const auto lock = NodeLock::make(alone);
  ASSERT_TRUE(lock.ok()) << lock.error().sentence();
  (*lock)->lock();
  (*lock)->unlock();
  EXPECT_EQ((*lock)->local_ranks(), 1);
}

} // namespace
} // namespace kumihimo::application
