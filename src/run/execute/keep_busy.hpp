// What a compute step does on a real machine.
#pragma once

#include <chrono>
#include <cstdint>

namespace kumihimo::execute {

// Keeps the processor busy, as computing does.
inline void keep_busy(std::int64_t nanoseconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::nanoseconds(nanoseconds);
  while (Clock::now() < end) {
  }
}

} // namespace kumihimo::execute
