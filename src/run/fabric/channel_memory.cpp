#include "fabric/channel_memory.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace kumihimo::fabric {

ChannelSlots::~ChannelSlots() {
  for (const Block& block : newest_)
    if (block.mode == ChannelMode::large) delete[] block.slots;
  for (const auto& [peer, block] : left_)
    if (block.mode == ChannelMode::large) delete[] block.slots;
}

ChannelSlots::Block* ChannelSlots::find(std::int32_t peer, ChannelEpoch epoch) {
  const auto at = static_cast<std::size_t>(peer);
  if (at < newest_.size() && newest_[at].slots && newest_[at].epoch == epoch) return &newest_[at];
  const auto left = left_.find(peer);
  return left != left_.end() && left->second.epoch == epoch ? &left->second : nullptr;
}

// Slots are used from the first one on, so pages of large channels that never fill up are not touched.
void ChannelSlots::apply(const ChannelChange& change) {
  const std::int64_t bytes = sizes_.channel_bytes(change.mode);
  const bool is_large = change.mode == ChannelMode::large;
  const bool is_counted = is_large || !sizes_.is_pooled();
  const auto at = static_cast<std::size_t>(change.peer);
  if (change.is_new) {
    if (at >= newest_.size()) newest_.resize(at + 1);
    if (newest_[at].slots) left_.emplace(change.peer, newest_[at]);
    newest_[at] = {is_large ? new std::byte[static_cast<std::size_t>(bytes)] : take_small(), 0, change.epoch,
                   change.mode};
    bytes_ += is_counted ? bytes : 0;
    return;
  }
  Block* const block = find(change.peer, change.epoch);
  if (is_large) delete[] block->slots;
  if (!is_large) free_small_.push_back(block->slots);
  bytes_ -= is_counted ? bytes : 0;
  *block = {};
  if (block != &newest_[at]) left_.erase(change.peer);
}

std::int64_t ChannelSlots::small_of_slab() const {
  constexpr std::int64_t most_of_slab = 32; // 64 KiB: no pages of its own
  return sizes_.is_pooled() ? sizes_.most(ChannelMode::small) : most_of_slab;
}

std::byte* ChannelSlots::take_small() {
  if (free_small_.empty()) {
    const std::int64_t each = sizes_.channel_bytes(ChannelMode::small), count = small_of_slab();
    std::byte* const slab =
        slabs_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(each * count))).get();
    for (std::int64_t i = count; i-- > 0;) free_small_.push_back(slab + i * each);
    if (sizes_.is_pooled()) bytes_ += sizes_.pool_slots * sizes_.small_slot_bytes;
  }
  std::byte* const slots = free_small_.back();
  free_small_.pop_back();
  return slots;
}

std::byte* ChannelSlots::keep(std::int32_t peer, ChannelEpoch epoch, std::span<const std::byte> message) {
  Block* const found = find(peer, epoch);
  if (!found) return nullptr;
  Block& block = *found;
  const auto slot = static_cast<std::int64_t>(std::countr_one(block.full));
  if (slot >= sizes_.slots(block.mode) || std::ssize(message) > sizes_.slot_bytes(block.mode)) return nullptr;
  block.full |= std::uint64_t{1} << slot;
  std::byte* const to = block.slots + slot * sizes_.slot_bytes(block.mode);
  if (!message.empty()) std::memcpy(to, message.data(), message.size());
  return to;
}

std::int64_t ChannelSlots::full_slots() const {
  std::int64_t full = 0;
  for (const Block& block : newest_) full += std::popcount(block.full);
  for (const auto& [peer, block] : left_) full += std::popcount(block.full);
  return full;
}

void ChannelSlots::give(std::int32_t peer, ChannelEpoch epoch, const std::byte* slot) {
  Block& block = *find(peer, epoch);
  const std::int64_t number = (slot - block.slots) / sizes_.slot_bytes(block.mode);
  block.full &= ~(std::uint64_t{1} << number);
}

} // namespace kumihimo::fabric
