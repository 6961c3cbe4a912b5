#include "shared_memory/peer_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

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
