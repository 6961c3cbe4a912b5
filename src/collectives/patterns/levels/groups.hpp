// Groups of ranks that share a leader: the ranks of a node, or parts of them of a given size. Groups take seats one
// after the other. So the blocks of a group follow each other in the order of seats, whatever ranks a node holds.
#pragma once

#include "collectives/patterns/levels/embed.hpp"
#include "schedule/collective.hpp"
#include "topology/rank_space.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace kumihimo {

struct RankGroup {
  std::vector<Rank> members;
  std::int32_t leader = 0;     // which of them
  std::int64_t first_seat = 0; // of its members, in their order
  Numbering ranks{{}};
  Numbering blocks{{}}; // by seat; of an alltoall, the pairs of each of its ranks

  std::int64_t size() const { return static_cast<std::int64_t>(members.size()); }
  Rank leading() const { return members[static_cast<std::size_t>(leader)]; }
};

class Groups {
 public:
  // `most` ranks in each at most, those of a node in groups as they follow each other; without it whole nodes. The
  // lowest rank of a group leads it, the root that of its own.
  Groups(const Collective& collective, const RankSpace& space, std::optional<std::int64_t> most);

  const std::vector<RankGroup>& all() const { return groups_; }
  std::int32_t number() const { return static_cast<std::int32_t>(groups_.size()); }
  std::int32_t group_of(Rank r) const { return group_of_[static_cast<std::size_t>(r.value)]; }
  std::int32_t place_of(Rank r) const { return place_of_[static_cast<std::size_t>(r.value)]; } // in its group
  const RankGroup& of(Rank r) const { return groups_[static_cast<std::size_t>(group_of(r))]; }
  bool leads(Rank r) const { return place_of(r) == of(r).leader; }
  std::int64_t seat_of(Rank r) const { return of(r).first_seat + place_of(r); }
  std::int64_t largest() const;

  const Numbering& leaders() const { return leaders_; }
  const Numbering& begins() const { return begins_; }             // the first seat of each group, and the end
  const Numbering& rank_in_seat() const { return rank_in_seat_; } // of each seat
  bool in_rank_order() const { return in_rank_order_; }           // each rank in the seat of its number

  // The layouts of Order; of irregular blocks in O(ranks), or of an alltoall O(ranks^2).
  std::vector<BlockLayout> orders(const Collective& collective) const;

 private:
  void seat(std::vector<Rank> members, const Collective& collective);
  std::vector<RankGroup> groups_;
  std::vector<std::int32_t> group_of_, place_of_;
  std::vector<std::int64_t> seats_;
  Numbering leaders_{{}}, begins_{{}}, rank_in_seat_{{}};
  bool in_rank_order_ = true;
};

// The space of the leaders, in the order of the groups.
RankSpace space_of_leaders(const RankSpace& space, const Groups& groups);

} // namespace kumihimo
