#include "thread_samples/instruction_samples.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace kumihimo::thread_samples {
namespace {

constexpr std::size_t most_threads = 1024; // that are sampled at a time
constexpr auto between_rounds = std::chrono::microseconds(1500);
// Of a thread that shares its processor: it gets the signal only in its next time slice.
constexpr std::size_t least_instructions = 4;
constexpr int further_rounds = 50;
constexpr auto between_further_rounds = std::chrono::milliseconds(5);

struct InstructionSlot {
  std::atomic<pid_t> thread;
  std::atomic<std::uintptr_t> instruction;
};
constinit std::array<InstructionSlot, most_threads> slots{};
constinit std::atomic<std::size_t> used{0};

std::uintptr_t instruction_in([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  return 0;
#endif
}

void note_instruction(int, siginfo_t*, void* context) {
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  const std::size_t n = used.load(std::memory_order_acquire);
  for (std::size_t at = 0; at < n; ++at)
    if (slots[at].thread.load(std::memory_order_relaxed) == self) {
      slots[at].instruction.store(instruction_in(context), std::memory_order_release);
      return;
    }
}

// Holds our handler of SIGURG while it lives, unless the program has its own.
class UrgentSignal {
 public:
  UrgentSignal() {
    struct sigaction now {};
    if (sigaction(SIGURG, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL) return;
    struct sigaction ours {};
    ours.sa_sigaction = note_instruction;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK; // stacks of some threads are small
    sigfillset(&ours.sa_mask);
    is_ours_ = sigaction(SIGURG, &ours, nullptr) == 0;
  }
  ~UrgentSignal() {
    struct sigaction now {};
    if (!is_ours_ || sigaction(SIGURG, nullptr, &now) != 0 || now.sa_sigaction != note_instruction) return;
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGURG, &usual, nullptr);
  }
  UrgentSignal(const UrgentSignal&) = delete;
  UrgentSignal& operator=(const UrgentSignal&) = delete;
  explicit operator bool() const { return is_ours_; }

 private:
  bool is_ours_ = false;
};

// Adds the instruction of each of `threads` that runs and gets a processor within `time`. False: none runs.
bool look_at(const std::vector<ThreadState>& threads, std::chrono::microseconds time,
             std::map<pid_t, std::vector<std::uintptr_t>>& found) {
  const pid_t process = getpid();
  std::size_t n = 0;
  for (const ThreadState& thread : threads) { // each at once, while it still runs
    if (n == most_threads || !thread.takes_signals || !is_running(thread.thread)) continue;
    slots[n].instruction.store(0, std::memory_order_relaxed);
    slots[n++].thread.store(thread.thread, std::memory_order_relaxed);
    used.store(n, std::memory_order_release);
    syscall(SYS_tgkill, process, thread.thread, SIGURG);
  }
  if (n == 0) return false;
  std::this_thread::sleep_for(time);
  for (std::size_t at = 0; at < n; ++at)
    if (const std::uintptr_t instruction = slots[at].instruction.exchange(0, std::memory_order_acquire))
      found[slots[at].thread.load()].push_back(instruction);
  return true;
}

} // namespace

std::map<pid_t, std::vector<std::uintptr_t>> instruction_samples(const std::vector<ThreadState>& threads, int rounds,
                                                                 const std::function<bool()>& goes_on) {
  std::map<pid_t, std::vector<std::uintptr_t>> found;
  const UrgentSignal signal;
  if (!signal) return found;
  for (int round = 0; round < rounds; ++round) look_at(threads, between_rounds, found);
  for (int round = 0; round < further_rounds && goes_on && goes_on(); ++round) {
    std::vector<ThreadState> few;
    for (const ThreadState& thread : threads)
      if (found[thread.thread].size() < least_instructions) few.push_back(thread);
    if (!look_at(few, between_further_rounds, found)) break;
  }
  std::erase_if(found, [](const auto& each) { return each.second.empty(); });
  return found;
}

} // namespace kumihimo::thread_samples
