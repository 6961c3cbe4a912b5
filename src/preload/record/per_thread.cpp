#include "record/per_thread.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace kumihimo::record {

void CountingFlag::fence_all_threads() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const auto barrier = [](int command) { return syscall(__NR_membarrier, command, 0, 0) == 0; };
  if (barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
  // Where the kernel gives none: far longer than a processor keeps a store to itself.
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool CountingFlag::is_clear_by(std::chrono::steady_clock::time_point until) const {
  while (is_set_.load(std::memory_order_acquire)) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::yield();
  }
  return true;
}

} // namespace kumihimo::record
