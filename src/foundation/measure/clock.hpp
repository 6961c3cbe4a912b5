// The clock of all measurements: monotonic, in nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>

namespace kumihimo::measure {

// Nanoseconds since an arbitrary fixed time of this process's machine; never runs backwards.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline double seconds_since(std::int64_t start_ns) { return static_cast<double>(now_ns() - start_ns) * 1e-9; }

} // namespace kumihimo::measure
