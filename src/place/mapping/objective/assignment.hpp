// Which rank has which slot, while a search changes it: never two ranks in a slot. Slots are numbered in block order.
#pragma once

#include "placement/placement.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::mapping {

class Assignment {
 public:
  static Assignment identity(std::int32_t ranks, std::int32_t slots);
  static Assignment of(const Placement& placement);
  // Different slots, each in [0, slots): asserted.
  static Assignment of_slots(std::vector<std::int32_t> slot_of_rank, std::int32_t slots);
  Placement placement(const Slots& slots) const;

  std::int32_t ranks() const { return static_cast<std::int32_t>(slot_of_rank_.size()); }
  std::int32_t slots() const { return static_cast<std::int32_t>(rank_in_slot_.size()); }
  std::int32_t slot(std::int32_t rank) const { return slot_of_rank_[static_cast<std::size_t>(rank)]; }
  std::int32_t rank_in(std::int32_t slot) const { return rank_in_slot_[static_cast<std::size_t>(slot)]; } // -1: free
  std::span<const std::int32_t> slot_of_rank() const { return slot_of_rank_; }

  // The rank takes the slot; whoever has it takes the rank's.
  void exchange(std::int32_t rank, std::int32_t slot);
  bool operator==(const Assignment& other) const { return slot_of_rank_ == other.slot_of_rank_; }

 private:
  std::vector<std::int32_t> slot_of_rank_, rank_in_slot_;
};

} // namespace kumihimo::mapping
