// Orders in which ranks take the slots of a job, by name.
//
//   block              all slots of node 0, then all of node 1, ...; also called smp
//   round-robin        slot 0 of every node in turn, then slot 1 of every node that has one, ...
//   folded             slot 0 of nodes 0 to N-1, slot 1 of nodes N-1 to 0, slot 2 of nodes 0 to N-1, ...
//   axes:AXES          as block, the nodes by these axes, the first of which runs fastest
//   reversed-axes      as block, the nodes by the reverse order of their axes: the first axis runs fastest
//   snake[:AXES]       as axes:AXES, but each axis is walked to and fro: successive nodes are neighbours
//   hilbert[:AXES]     as block, the nodes along a Hilbert curve (placement/hilbert.hpp)
//   blocks:CELLS[:GRID]  ranks of a grid in boxes of these lengths: all ranks of the first box, then those of the next,
//                      take the slots in block order. With a box of as many cells as a node has slots, each node gets a
//                      box of the grid.
//   random:SEED        any slot, the same for the same seed on every machine
//
// The axes of the nodes' shape are called x, y, z, a, b, c, d, e, ...; AXES names each of them once, and a - before an
// axis walks it from its end: axes:z-yx. Without AXES the last axis runs fastest, as in block order.
#pragma once

#include "placement/placement.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo {

struct OrderContext {
  const Slots& slots;
  Shape nodes;               // without axes where the nodes have none
  std::optional<Shape> grid; // of the ranks
  std::int32_t ranks = 0;    // they take the first so many slots of the order
};

// Errors: no such order; axes asked for of nodes without; axes, boxes or a grid that do not fit; more ranks than slots.
Result<Placement> placement_in_order(std::string_view order, const OrderContext& context);
// As many ranks as slots, without a grid.
Result<Placement> placement_in_order(std::string_view order, const Slots& slots, const Shape& nodes);

// The names of orders that apply here, block first: every order of up to four axes longer than 1, beyond that their
// rotations; every box that fills a node, if there is a grid and nodes are even. Without reflections of single axes and
// without random orders. Several may stand for the same order.
std::vector<std::string> names_of_orders(const OrderContext& context);
// Of names for the same order only the first one. Builds all of them.
std::vector<std::string> simple_orders(const OrderContext& context);

} // namespace kumihimo
