#include "shared_memory/spin_wait.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>

namespace kumihimo::shared_memory {
namespace {

constexpr std::int64_t long_yield_ns = 100'000; // nobody else wants the processor: under a microsecond
constexpr std::int64_t most_patience_ns = 4'000'000;

std::int64_t now_ns() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

} // namespace

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void SpinWait::note_yield(std::int64_t ns) {
  if (ns >= long_yield_ns)
    patience_ns_ = std::min(ns, most_patience_ns);
  else // some are short although another program wants the processor
    patience_ns_ = std::max<std::int64_t>(0, patience_ns_ - patience_ns_ / 8 - 1'000);
}

bool SpinWait::is_patient() {
  if (patience_ns_ == 0) return false;
  const std::int64_t now = now_ns();
  if (patient_since_ns_ == 0) patient_since_ns_ = now;
  return now - patient_since_ns_ < patience_ns_;
}

bool SpinWait::turn() {
  if (spins()) {
    ++spun_;
    relax();
  } else if (oversubscribed_) {
    sched_yield();
  } else if (is_patient()) {
    relax();
  } else {
    const std::int64_t before = now_ns();
    sched_yield();
    note_yield(now_ns() - before);
  }
  if (++turns_since_poll_ < turns_between_polls) return false;
  turns_since_poll_ = 0;
  return true;
}

} // namespace kumihimo::shared_memory
