#include "shared_memory/peer_process.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace kumihimo::shared_memory {
namespace {

// What a child that waits says of itself.
struct Child {
  pid_t id = -1;
  PeerProcess process;
};
Child make_child() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe(ends), 0);
  Child child;
  child.id = fork();
  if (child.id == 0) {
    const PeerProcess mine = own_process();
    const bool written = write(ends[1], &mine, sizeof mine) == sizeof mine;
    while (written) pause();
    _exit(1);
  }
  EXPECT_EQ(read(ends[0], &child.process, sizeof child.process), static_cast<ssize_t>(sizeof child.process));
  close(ends[0]), close(ends[1]);
  return child;
}

TEST(PeerProcess, HasEndedOnceItIsKilledAndAfterItWasWaitedFor) {
  const Child child = make_child();
  EXPECT_FALSE(has_ended(child.process));
  kill(child.id, SIGKILL);
  siginfo_t facts{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child.id), &facts, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(has_ended(child.process)); // a zombie
  ASSERT_EQ(waitpid(child.id, nullptr, 0), child.id);
  EXPECT_TRUE(has_ended(child.process));
}

// As an MPI library's own thread may outlive a main thread that calls pthread_exit().
TEST(PeerProcess, LivesAsLongAsAThreadOfItDoes) {
  int ends[2] = {-1, -1}, release[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(release), 0);
  PeerProcess child;
  const pid_t id = fork();
  if (id == 0) {
    close(release[1]);
    const PeerProcess mine = own_process();
    std::thread([&release] {
      char word = 0;
      _exit(read(release[0], &word, 1) == 1); // until the parent closes its end
    }).detach();
    if (write(ends[1], &mine, sizeof mine) != sizeof mine) _exit(1);
    syscall(SYS_exit, 0); // of this thread alone
  }
  ASSERT_EQ(read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(has_ended(child));
  close(release[1]);
  siginfo_t facts{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(id), &facts, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(has_ended(child));
  waitpid(id, nullptr, 0);
  for (const int end : {ends[0], ends[1], release[0]}) close(end);
}

TEST(PeerProcess, IsToldFromALaterOneOfTheSameId) {
  PeerProcess peer = own_process();
  EXPECT_FALSE(has_ended(peer));
  peer.begun -= 1;
  EXPECT_TRUE(has_ended(peer));
}

TEST(PeerProcess, OfAnotherIdSpaceIsNotKnownToHaveEnded) {
  PeerProcess peer = own_process();
  peer.id_space += 1, peer.id = 1 << 30;
  EXPECT_FALSE(has_ended(peer));
  EXPECT_FALSE(has_ended({}));
}

} // namespace
} // namespace kumihimo::shared_memory
