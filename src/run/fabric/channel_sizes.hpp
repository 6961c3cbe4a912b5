// Sizes and limits of two-mode channels (fabric/two_mode_channels.hpp).
#pragma once

#include "base/result.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace kumihimo::fabric {

enum class ChannelMode : std::uint8_t { none, small, large };

struct ChannelSizes {                            // of K by default
  static constexpr std::int64_t most_slots = 64; // of a channel

  std::int64_t small_slots = 16, small_slot_bytes = 128;
  std::int64_t large_slots = 64, large_slot_bytes = 16 << 10;
  std::int64_t small_eager_bytes = 128, large_eager_bytes = 13'700;
  std::int64_t promoted_after = 15; // messages
  std::int64_t most_large = 1024;
  bool demotes = true;            // ours: K's first ones stay
  std::int64_t pool_slots = 0;    // ours: slots that small channels share; 0: each has its own
  std::int64_t slots_of_pool = 2; // of a small channel, while it has some

  bool operator==(const ChannelSizes&) const = default;
  bool is_pooled() const { return pool_slots > 0; }
  std::int64_t slots(ChannelMode mode) const {
    if (mode == ChannelMode::none) return 0;
    if (mode == ChannelMode::large) return large_slots;
    return is_pooled() ? std::min(slots_of_pool, pool_slots) : small_slots;
  }
  std::int64_t slot_bytes(ChannelMode mode) const {
    return mode == ChannelMode::large ? large_slot_bytes : mode == ChannelMode::small ? small_slot_bytes : 0;
  }
  std::int64_t eager_bytes(ChannelMode mode) const {
    return mode == ChannelMode::large ? large_eager_bytes : mode == ChannelMode::small ? small_eager_bytes : -1;
  }
  std::int64_t channel_bytes(ChannelMode mode) const { return slots(mode) * slot_bytes(mode); }
  // Channels of a mode at a time.
  std::int64_t most(ChannelMode mode) const {
    if (mode == ChannelMode::large) return most_large;
    return mode == ChannelMode::small && is_pooled() ? pool_slots / slots(mode) : INT64_MAX;
  }
};

// "large=32,pool=4096": of small_slots, small_bytes, large_slots, large_bytes, eager_bytes, after, large, pool. What is
// not named keeps its default; small_bytes and large_bytes are of a slot, eager_bytes is the longest eager message of a
// large channel, and a small one's fills its slot. `name`: who gives them, for the error.
Result<ChannelSizes> channel_sizes_in(std::string_view name, std::string_view words);

} // namespace kumihimo::fabric
