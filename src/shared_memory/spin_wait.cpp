#include "shared_memory/spin_wait.hpp"

#include <sched.h>

namespace kumihimo::shared_memory {
namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace

bool SpinWait::turn() {
  if (spins()) {
    ++spun_;
    relax();
  } else {
    sched_yield();
  }
  if (++turns_since_poll_ < turns_between_polls) return false;
  turns_since_poll_ = 0;
  return true;
}

} // namespace kumihimo::shared_memory
