// Broadcast, reduce and allreduce over spanning trees: what every tree algorithm shares. An algorithm is the arithmetic
// of its trees, parent and children of a rank; the lanes follow from it.
#pragma once

#include "collectives/registry.hpp"

namespace kumihimo {

// One rank's place in one tree.
struct TreePlace {
  struct Child {
    Rank rank;
    std::int64_t height = 0;   // distance to its own farthest leaf
    bool ranks_before = false; // its subtree's ranks come before ours: its value is the left operand
  };
  std::optional<Rank> parent;
  std::vector<Child> children; // in the order of reduction; broadcast sends in the reverse order
};

struct Forest {
  std::int64_t trees = 1;
  std::function<TreePlace(std::int64_t tree, Rank rank)> place; // pure
};

// To the children of a rank in a broadcast: all sends start together, or each when the one before has left.
enum class SendOrder : std::uint8_t { at_once, in_turn };

struct TreeOptions {
  bool overlap = false; // broadcast of a segment follows its reduction; else the phases follow each other
  std::int64_t window = 4;
  Segments segments;
  Claims claims;
  SendOrder sends = SendOrder::at_once;
};

// The vector is cut in segments and each segment in one part a tree. Lane t reduces (or broadcasts) over tree t; in an
// allreduce lane trees + t broadcasts after it. Steps of a rank: its children in each tree, received in order, own
// value first, and one message to its parent.
Schedule tree_schedule(const Collective& collective, Forest forest, const TreeOptions& options);

// The parameters that every tree algorithm takes.
std::vector<Variant::Parameter> tree_parameters(std::string segment_default, bool overlap = false);

} // namespace kumihimo
