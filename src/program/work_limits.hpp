// The most that one compute step may ask for, so that its time in nanoseconds fits in 64 bits.
#pragma once

namespace kumihimo {

inline constexpr double most_compute_seconds = 1e6; // 11 days
inline constexpr double most_compute_flops = 1e18, most_compute_bytes = 1e18;

} // namespace kumihimo
