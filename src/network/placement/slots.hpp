// Slots for the ranks of a job: each node has a number of them, counted from 0. Nodes may have different numbers; a
// node without slots is not the job's.
#pragma once

#include "base/ids.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo {

struct Slot {
  NodeId node;
  std::int32_t number = 0;
  bool operator==(const Slot&) const = default;
};

class Slots {
 public:
  // The same number on each node. nodes * each must be below 2^31.
  Slots(std::int32_t nodes, std::int32_t each) : nodes_(nodes), each_(each), size_(nodes * each) {}
  // The number of slots of each node in turn. Errors: a negative number; no slot at all; more than 2^31-1.
  static Result<Slots> of_nodes(const std::vector<std::int32_t>& sizes);

  std::int32_t nodes() const { return nodes_; }
  std::int32_t size() const { return size_; } // of all nodes together
  std::int32_t on(NodeId node) const {
    return each_ >= 0 ? each_ : first_[static_cast<std::size_t>(node.value) + 1] - first_[node.value];
  }
  bool are_even() const { return each_ >= 0; }
  bool contains(Slot slot) const {
    return slot.node.value >= 0 && slot.node.value < nodes_ && slot.number >= 0 && slot.number < on(slot.node);
  }

  // All slots in block order: those of node 0, then those of node 1, ... O(1) where nodes are even, else O(log nodes).
  Slot at(std::int32_t index) const;
  std::int32_t index(Slot slot) const {
    return (each_ >= 0 ? slot.node.value * each_ : first_[slot.node.value]) + slot.number;
  }

  bool operator==(const Slots&) const = default;

 private:
  std::int32_t nodes_ = 0, each_ = 0, size_ = 0; // each_ -1: uneven
  std::vector<std::int32_t> first_;              // uneven only: the index of each node's first slot, and size_
};

} // namespace kumihimo
