// Memory of the slots of two-mode channels (fabric/two_mode_channels.hpp), and the bytes of messages in them.
#pragma once

#include "fabric/two_mode_channels.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace kumihimo::fabric {

class ChannelSlots {
 public:
  explicit ChannelSlots(const ChannelSizes& sizes) : sizes_(sizes) {}
  ~ChannelSlots();
  ChannelSlots(const ChannelSlots&) = delete;
  ChannelSlots& operator=(const ChannelSlots&) = delete;

  void apply(const ChannelChange& change);
  // Copies a message into an empty slot of a channel, which exists. Null: all are full, or the message is too long.
  std::byte* keep(std::int32_t peer, ChannelEpoch epoch, std::span<const std::byte> message);
  void give(std::int32_t peer, ChannelEpoch epoch, const std::byte* slot);
  // Of slots, with the pool's from the first channel on. Small channels come in slabs of 32, which stay.
  std::int64_t bytes() const { return bytes_; }
  std::int64_t full_slots() const; // that keep a message

 private:
  struct Block {
    std::byte* slots = nullptr;
    std::uint64_t full = 0; // a bit for each slot
    ChannelEpoch epoch = 0;
    ChannelMode mode = ChannelMode::none;
  };
  Block* find(std::int32_t peer, ChannelEpoch epoch);
  std::byte* take_small();
  std::int64_t small_of_slab() const;

  ChannelSizes sizes_;
  std::deque<Block> newest_; // channel of each peer; no slots: none
  // The one before, while its last messages are taken.
  std::unordered_map<std::int32_t, Block> left_;
  std::vector<std::unique_ptr<std::byte[]>> slabs_; // of small channels; the pool is one
  std::vector<std::byte*> free_small_;
  std::int64_t bytes_ = 0;
};

} // namespace kumihimo::fabric
