// Which of a communicator's blocking collectives have their entry times kept: the first 256, then 128 of each doubling
// of the number of calls. It goes by the call's number alone, which is the same on all ranks.
#pragma once

#include <bit>
#include <cstdint>

namespace kumihimo::record {

inline constexpr std::uint64_t all_sampled_below = 256;

constexpr bool is_sampled(std::uint64_t call) {
  if (call < all_sampled_below) return true;
  const std::uint64_t step = std::bit_floor(call) / (all_sampled_below / 2);
  return call % step == 0;
}

// How the time of one call divides: waiting for the last to enter, as far as this rank was in the call then.
struct Split {
  std::int64_t waiting_ns = 0, transferring_ns = 0;
};
constexpr Split split_of(std::int64_t entry_ns, std::int64_t exit_ns, std::int64_t last_entry_ns) {
  const std::int64_t whole = exit_ns - entry_ns;
  std::int64_t waiting = last_entry_ns - entry_ns;
  if (waiting < 0) waiting = 0;
  if (waiting > whole) waiting = whole;
  return {waiting, whole - waiting};
}

} // namespace kumihimo::record
