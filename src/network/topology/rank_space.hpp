// A communicator as its ranks see it: axes with length and wrap-around, how many ranks share a node, and levels of
// ranks that are close. It is what an algorithm may know of the machine; it names no node and no link.
//
// Recognition follows the K computer's MPI: the coordinates of the communicator's ranks are analysed. A full box is a
// torus along each axis of the machine that it spans completely, and a mesh along the others. Anything else is a row of
// ranks without a shape.
#pragma once

#include "base/ids.hpp"
#include "topology/level.hpp"
#include "topology/shape.hpp"
#include "topology/torus.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kumihimo {

class RankSpace {
 public:
  // Ranks without a shape: one row of P, no axis known to be physical.
  static RankSpace row(std::int32_t ranks);

  // Ranks on one shared-memory node: every rank is every other's neighbour, so that any shape may be laid over them.
  // `levels` are those of its ranks: packages, caches.
  static RankSpace node(std::int32_t ranks, const std::vector<Level>& levels = {});

  // A box of nodes in row-major order, `ranks_per_node` consecutive ranks on each. With more than one rank a node the
  // ranks of a node are the last axis, which wraps (shared memory has no ends).
  static RankSpace box(Shape nodes, std::int32_t ranks_per_node = 1);

  // Consecutive ranks on nodes in a row, by the number of ranks on each: a mesh if equal, else ranks without a shape.
  static RankSpace of_nodes(std::span<const std::int32_t> sizes);

  // Ranks on known nodes, which any numbers tell apart, with an unknown network: the nodes stand in a row in the order
  // of their first ranks. One node: as node().
  static RankSpace on_nodes(std::span<const std::int64_t> node_of_rank);

  // Nodes without axes, `ranks_per_node` consecutive ranks on each; `levels` are those of the nodes: groups, switches.
  static RankSpace on_switches(std::int32_t nodes, std::int32_t ranks_per_node, const std::vector<Level>& levels);

  // A row of ranks that share nodes, with an unknown network.
  static RankSpace shapeless(std::span<const NodeId> node_of_rank);

  // From the machine's shape and the node of each rank of a communicator, in rank order. O(P log P).
  static RankSpace recognise(const Shape& machine, std::span<const NodeId> node_of_rank);

  std::int32_t ranks() const { return ranks_; }
  bool has_shape() const { return has_shape_; } // false for row(): shape() is then one mesh axis in rank order
  const Shape& shape() const { return shape_; }
  std::int32_t ranks_per_node() const { return ranks_per_node_; } // 0 where nodes hold unequal numbers of ranks
  const std::vector<std::int32_t>& node_sizes() const { return node_sizes_; } // only where they are unequal
  // Levels of consecutive ranks, outermost first: those of the network, the node if it has several ranks (but not all),
  // those in the node. No level has all ranks or one. Empty if nodes hold unequal numbers of ranks, or if ranks are out
  // of order.
  const std::vector<Level>& levels() const { return levels_; }

  // The ranks of each node in rank order; nodes in the shape's order where there is one.
  std::vector<std::vector<Rank>> nodes() const;
  // The space with one rank per node, in the order of nodes().
  RankSpace between_nodes() const;

  // The place of a rank in the shape, and the rank at a place: the identity if ranks are in row-major order.
  std::int32_t place(Rank rank) const { return order_ ? order_->place_of_rank[rank.value] : rank.value; }
  Rank rank_at(std::int32_t place) const { return order_ ? order_->rank_at_place[place] : Rank{place}; }
  bool row_major() const { return !order_; }

  std::string name() const; // "torus 48x6x32", "mesh 4mx3m", "node of 4 ranks", "row of 7 ranks",
                            // "row of 96 ranks, 8 a switch, 2 a node", "row of 12 ranks, 3 to 5 a node"

 private:
  struct Order {
    std::vector<std::int32_t> place_of_rank;
    std::vector<Rank> rank_at_place;
  };
  std::int32_t ranks_ = 1;
  bool has_shape_ = false;
  Shape shape_;
  std::int32_t ranks_per_node_ = 1;
  std::vector<std::int32_t> node_sizes_;
  std::vector<Level> levels_;
  std::shared_ptr<const Order> order_;
  std::shared_ptr<const std::vector<std::vector<Rank>>> nodes_; // only of a row whose ranks share nodes
};

} // namespace kumihimo
