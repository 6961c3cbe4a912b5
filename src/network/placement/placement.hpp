// Which rank sits in which slot: a bijection between ranks and the slots that are taken. No slot holds two ranks, and
// no node more ranks than it has slots. Pure values.
#pragma once

#include "placement/slots.hpp"
#include "topology/rank_space.hpp"

#include <optional>
#include <span>
#include <vector>

namespace kumihimo {

class Placement {
 public:
  // Rank r in the r-th slot of block order. ranks <= slots.size().
  static Placement block(Slots slots, std::int32_t ranks);
  static Placement block(const Slots& slots) { return block(slots, slots.size()); }
  // Errors, which name the rank: a slot that is not the job's; one that another rank has.
  static Result<Placement> make(Slots slots, std::span<const Slot> of_rank);
  // By the node of each rank: ranks take a node's slots in their own order. Errors: as make().
  static Result<Placement> on_nodes(Slots slots, std::span<const NodeId> node_of_rank);

  const Slots& slots() const { return slots_; }
  std::int32_t ranks() const { return ranks_; }
  Slot slot(Rank rank) const { return slots_.at(index(rank)); }
  NodeId node(Rank rank) const { return slot(rank).node; }
  std::optional<Rank> rank_in(Slot slot) const; // none: the slot is free
  std::int32_t index(Rank rank) const { return is_block() ? rank.value : index_of_rank_[rank.value]; }
  bool is_block() const { return index_of_rank_.empty(); }
  std::vector<NodeId> node_of_rank() const;

  // What the ranks of a communicator placed so know of each other (ADR 0026): on a torus or mesh of this shape their
  // coordinates, else which of them share a node. `nodes`: without axes where the nodes have none.
  RankSpace rank_space(const Shape& nodes) const;

 private:
  Placement(Slots slots, std::int32_t ranks) : slots_(std::move(slots)), ranks_(ranks) {}
  Slots slots_;
  std::int32_t ranks_;
  std::vector<std::int32_t> index_of_rank_, rank_at_index_; // empty: block
};

} // namespace kumihimo
