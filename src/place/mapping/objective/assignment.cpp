#include "mapping/objective/assignment.hpp"

#include <cassert>
#include <numeric>

namespace kumihimo::mapping {

Assignment Assignment::identity(std::int32_t ranks, std::int32_t slots) {
  std::vector<std::int32_t> slot_of_rank(static_cast<std::size_t>(ranks));
  std::iota(slot_of_rank.begin(), slot_of_rank.end(), 0);
  return of_slots(std::move(slot_of_rank), slots);
}

Assignment Assignment::of(const Placement& placement) {
  std::vector<std::int32_t> slot_of_rank;
  slot_of_rank.reserve(static_cast<std::size_t>(placement.ranks()));
  for (std::int32_t rank = 0; rank < placement.ranks(); ++rank) slot_of_rank.push_back(placement.index(Rank{rank}));
  return of_slots(std::move(slot_of_rank), placement.slots().size());
}

Assignment Assignment::of_slots(std::vector<std::int32_t> slot_of_rank, std::int32_t slots) {
  Assignment assignment;
  assignment.slot_of_rank_ = std::move(slot_of_rank);
  assignment.rank_in_slot_.assign(static_cast<std::size_t>(slots), -1);
  for (std::int32_t rank = 0; rank < assignment.ranks(); ++rank) {
    std::int32_t& holder = assignment.rank_in_slot_[static_cast<std::size_t>(assignment.slot(rank))];
    assert(holder == -1);
    holder = rank;
  }
  return assignment;
}

Placement Assignment::placement(const Slots& slots) const {
  std::vector<Slot> of_rank;
  of_rank.reserve(slot_of_rank_.size());
  for (const std::int32_t slot : slot_of_rank_) of_rank.push_back(slots.at(slot));
  Result<Placement> placement = Placement::make(slots, of_rank);
  assert(placement.ok());
  return std::move(placement).value();
}

void Assignment::exchange(std::int32_t rank, std::int32_t slot) {
  const std::int32_t old = this->slot(rank), other = rank_in(slot);
  slot_of_rank_[static_cast<std::size_t>(rank)] = slot;
  rank_in_slot_[static_cast<std::size_t>(slot)] = rank;
  rank_in_slot_[static_cast<std::size_t>(old)] = other == rank ? rank : other;
  if (other >= 0 && other != rank) slot_of_rank_[static_cast<std::size_t>(other)] = old;
}

} // namespace kumihimo::mapping
