// What a job sees of Tofu: a torus of one, two or three dimensions laid into its box so that neighbours are one
// physical hop apart, whatever box it is. Its nodes are numbered as the torus numbers its places; its links are the
// physical ones of the box, which messages between others than neighbours cross too.
//
// Around a dead node the torus closes one position shorter on one axis. The two rows of nodes beside the gap reach each
// other by a way around what is dead; all other neighbours stay one hop apart.
#pragma once

#include "topology/tofu_ring.hpp"

namespace kumihimo {

class VirtualTorus final : public Topology {
 public:
  // One ring an axis, over different axes of the box, which begin at `first` in it. An axis that does not wrap is a
  // part of its ring.
  VirtualTorus(Tofu box, const TofuPlace& first, Shape shape, std::vector<TofuRing> rings);

  const Shape& shape() const { return shape_; }
  const Tofu& tofu() const { return tofu_; } // the job's box
  const std::vector<TofuRing>& rings() const { return rings_; }

  TofuPlace place(NodeId node) const;                          // in the box
  std::optional<NodeId> node_at(const TofuPlace& place) const; // none where the job leaves a node out
  std::optional<NodeId> neighbour(NodeId node, std::int32_t axis, std::int32_t step) const; // none off a mesh's end

  // A position that one of the rings leaves out because a node there is dead.
  struct Gap {
    std::int32_t axis = 0, position = 0; // of the ring as it was
    NodeId dead;                         // of the box
  };
  const std::vector<Gap>& gaps() const { return gaps_; }

  // The torus that is left when these nodes of the box and cables die: shorter by one position on the longest axis for
  // each dead node that it has. Errors: nothing is left; nodes that no way is proven between.
  Result<VirtualTorus> without(std::span<const NodeId> nodes, std::span<const LinkId> links) const;
  // The same in two: what is left, and whether its nodes all reach each other.
  Result<VirtualTorus> shortened(std::span<const NodeId> nodes, std::span<const LinkId> links) const;
  Status connected() const;

  // Neighbours that are more than one hop apart, counted each way. O(nodes).
  struct DistantNeighbours {
    std::int64_t pairs = 0;
    std::int32_t fewest_hops = 0, most_hops = 0;
  };
  DistantNeighbours far_neighbours() const;

  std::int32_t nodes() const override { return shape_.places(); }
  std::int64_t link_bound() const override { return tofu_.link_bound(); }
  bool is_link(LinkId link) const override { return tofu_.is_link(link); }
  void append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const override {
    tofu_.append_route(place(from), place(to), route);
  }
  std::int32_t distance(NodeId from, NodeId to) const override { return tofu_.distance(place(from), place(to)); }
  std::int32_t diameter() const override { return tofu_.diameter(); } // of the box
  std::int64_t bisection_links() const override; // where it cuts the job unevenly, those that as hard a cut would have
  std::int32_t degree() const override { return tofu_.degree(); }
  // Half a ring that goes up an axis of the box in one place of another, of two, and down it in the other: that is the
  // box mirrored along both.
  Shifts shifts() const override;
  LinkId shifted(LinkId link, std::int32_t axis) const override;
  Link describe(LinkId link) const override; // an end that is no node of the job is -1
  std::string name() const override;         // "torus 48x6x32 in Tofu 24x2x16x2x3x2"

 protected:
  std::int64_t count_links() const override { return tofu_.links(); }

 private:
  struct Mirror { // coordinate c of one axis of the box goes to sum - c
    std::int32_t axis = 0, sum = 0;
  };
  std::vector<Mirror> half_turn(std::int32_t axis) const; // none: no symmetry

  std::int32_t on_ring(std::int32_t axis, std::int32_t coordinate) const; // past the gaps
  std::vector<std::int64_t> nodes_by_coordinate(std::int32_t axis) const; // of the box's axis

  Tofu tofu_;
  TofuPlace first_;
  Shape shape_;
  std::vector<TofuRing> rings_;
  std::vector<Gap> gaps_; // by axis and position
};

} // namespace kumihimo
