// A save that is killed, or refused by the system, at each of its system calls: the tracer of a child (ptrace(2))
// counts them. Before it and after it the files must hold a whole generation, and the next save must go well.
#include "saved_state/state_store.hpp"

#include <gtest/gtest.h>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kumihimo::saved_state {
namespace {

namespace fs = std::filesystem;

constexpr int saved = 0, not_saved = 3, killed = -1;

struct TracedRun {
  std::vector<long> calls; // numbers of the system calls, in order; the last is the one that was hit
  int code = killed;       // exit code
};

// What becomes of the child at its call number `hit`, counted from 0 between the two markers getppid().
enum class Fate { none, killed_before, killed_after, refused };

TracedRun traced(const std::function<int()>& work, Fate fate, std::size_t hit, int error = ENOSPC) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    getppid();
    const int code = work();
    getppid();
    _exit(code);
  }
  TracedRun run;
  int status = 0, markers = 0;
  bool enters = true, refuses = false;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  const auto kill_child = [&] {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return run;
  };
  for (;;) {
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) break;
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, child, nullptr, &registers);
    const auto number = static_cast<long>(registers.orig_rax);
    if (enters && number == SYS_getppid) {
      ++markers;
    } else if (markers == 1) {
      if (enters) run.calls.push_back(number);
      const bool is_hit = run.calls.size() == hit + 1;
      if (is_hit && enters && fate == Fate::killed_before) return kill_child();
      if (is_hit && !enters && fate == Fate::killed_after) return kill_child();
      if (is_hit && enters && fate == Fate::refused) {
        registers.orig_rax = static_cast<unsigned long long>(-1); // no system call
        ptrace(PTRACE_SETREGS, child, nullptr, &registers);
        refuses = true;
      } else if (refuses && !enters) {
        registers.rax = static_cast<unsigned long long>(-static_cast<long long>(error));
        ptrace(PTRACE_SETREGS, child, nullptr, &registers);
        refuses = false;
      }
    }
    enters = !enters;
  }
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : killed;
  return run;
}

std::vector<std::byte> field_of(std::int64_t generation) {
  std::vector<std::byte> field(2'500'000); // several writes
  for (std::size_t i = 0; i < field.size(); ++i)
    field[i] = static_cast<std::byte>(static_cast<std::size_t>(generation) * 31 + i * 7 + i / 1000);
  return field;
}

class SystemCallTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    const fs::path memory = "/dev/shm"; // where waiting for the disk takes no time
    folder = (access(memory.c_str(), W_OK) == 0 ? memory : fs::path(testing::TempDir())) /
             ("system_calls_" + std::to_string(getpid()) + test->name());
    for (std::int64_t generation = 0; generation <= 4; ++generation) fields.push_back(field_of(generation));
  }
  void TearDown() override { fs::remove_all(folder); }

  void save_up_to(std::int64_t last) const {
    fs::remove_all(folder);
    fs::create_directory(folder);
    for (std::int64_t generation = 1; generation <= last; ++generation) ASSERT_EQ(save(generation), saved);
  }
  int save(std::int64_t generation) const {
    auto store = StateStore::open(folder.string(), "state", 0);
    const SavedArray array{"field", fields[static_cast<std::size_t>(generation)]};
    return store && store->save(generation, std::span(&array, 1)) ? saved : not_saved;
  }
  std::vector<std::int64_t> whole() const {
    const auto store = StateStore::open(folder.string(), "state", 0);
    std::vector<std::int64_t> numbers;
    for (const Generation& each : store->whole_generations()) {
      numbers.push_back(each.number);
      std::vector<std::byte> read(fields[0].size());
      const ArrayPlace place{"field", read};
      EXPECT_TRUE(store->load(each.number, std::span(&place, 1)));
      EXPECT_EQ(read, fields[static_cast<std::size_t>(each.number)]);
    }
    return numbers;
  }
  // The save of generation `last` + 1, hit at each of its calls in turn.
  void hit_each_call(std::int64_t last, Fate fate, int error = ENOSPC) {
    for (std::size_t hit = 0;; ++hit) {
      save_up_to(last);
      const TracedRun run = traced([&] { return save(last + 1); }, fate, hit, error);
      if (run.calls.size() <= hit) {
        EXPECT_GT(hit, 8u); // calls in all
        return;
      }
      const std::vector<std::int64_t> found = whole();
      const bool has_old = std::find(found.begin(), found.end(), last) != found.end();
      EXPECT_TRUE(has_old || last == 0) << "call " << hit << ", number " << run.calls.back();
      const bool has_new = std::find(found.begin(), found.end(), last + 1) != found.end();
      EXPECT_TRUE(has_new || run.code != saved) << "call " << hit;
      EXPECT_EQ(save(std::max(last, found.empty() ? 0 : found.back()) + 1), saved) << "call " << hit;
    }
  }

  fs::path folder;
  std::vector<std::vector<std::byte>> fields;
};

TEST_F(SystemCallTest, AKillBeforeAnyCallLosesNothing) {
  for (const std::int64_t last : {0, 1, 2}) hit_each_call(last, Fate::killed_before);
}

TEST_F(SystemCallTest, AKillAfterAnyCallLosesNothing) {
  for (const std::int64_t last : {0, 1, 2}) hit_each_call(last, Fate::killed_after);
}

TEST_F(SystemCallTest, ARefusedCallLosesNothing) {
  for (const int error : {ENOSPC, EIO, EDQUOT}) hit_each_call(2, Fate::refused, error);
}

TEST_F(SystemCallTest, WaitsForTheDiskBeforeTheNewNameAndAfterIt) {
  save_up_to(1);
  const TracedRun run = traced([&] { return save(2); }, Fate::none, 0);
  ASSERT_EQ(run.code, saved);
  std::vector<long> order;
  for (const long call : run.calls)
    if (call == SYS_write || call == SYS_fsync || call == SYS_rename)
      if (order.empty() || order.back() != call) order.push_back(call);
  EXPECT_EQ(order, (std::vector<long>{SYS_write, SYS_fsync, SYS_rename, SYS_fsync}));
}

// The sabotage: a writer without a new name loses the state, and the same tracer finds it.
TEST_F(SystemCallTest, TheTracerFindsAWriterInPlace) {
  save_up_to(2);
  const fs::path newest = folder / "state-0.1", older = folder / "state-0.0";
  bool is_lost = false;
  for (std::size_t hit = 0; hit < 3 && !is_lost; ++hit) {
    save_up_to(2);
    traced(
        [&] {
          if (truncate(newest.c_str(), 0) != 0 || truncate(older.c_str(), 0) != 0) return not_saved;
          return save(3);
        },
        Fate::killed_after, hit);
    is_lost = whole().empty();
  }
  EXPECT_TRUE(is_lost);
}

} // namespace
} // namespace kumihimo::saved_state

#endif
