// Tofu, the network of the K computer and of Fugaku, as its six physical axes. X, Y and Z join groups of nodes, A, B
// and C the 12 nodes of a group. Reference: Ajima et al., "Tofu: A 6D Mesh/Torus Interconnect for Exascale Computers",
// IEEE Computer 42(11), 2009.
//
// A message walks the axes in the order x, y, z, a, c, b. Before that it may move along b, c and a, to a place of its
// own group from where it then goes: one choice for each of the group's 12 places. Normally it does not; where
// something on the way is dead, it takes the shortest of the 12 ways that is alive.
#pragma once

#include "topology/torus.hpp"

#include <array>
#include <optional>
#include <span>

namespace kumihimo {

// Coordinates x, y, z, a, b, c.
using TofuPlace = std::array<std::int32_t, 6>;

// What part of a machine a job has: its first node and its lengths, round the end of an axis that wraps.
struct TofuBox {
  TofuPlace first{}, lengths{1, 1, 1, 1, 1, 1};
  bool operator==(const TofuBox&) const = default;
};

std::string text_of(const TofuPlace& coordinates, std::string_view separator); // "4x3x8x2x3x2"

class Tofu final : public Topology {
 public:
  static constexpr std::int32_t x = 0, y = 1, z = 2, a = 3, b = 4, c = 5, axes = 6;

  // Six lengths, with the kinds of their axes: "24x18mx16x2mx3x2m". Without kinds X, Z and B wrap and Y, A and C do
  // not. Errors: another number of axes.
  static Result<Tofu> make(const Shape& shape);
  static Shape usual(const TofuPlace& lengths);

  // A box of it as a network of its own, with numbers of its own and the whole machine's names. Messages between nodes
  // of a box stay in it, so that an axis wraps only where the box has all of it. Dead parts go along.
  Tofu part(const TofuBox& box) const;
  // The same network without these nodes and cables (both directions). Dead nodes keep their numbers.
  Tofu without(std::span<const NodeId> nodes, std::span<const LinkId> links) const;

  const Shape& shape() const { return torus_.shape(); }
  const Torus& torus() const { return torus_; } // the graph, with every part alive
  TofuPlace place(NodeId node) const;
  NodeId node(const TofuPlace& place) const;
  std::optional<NodeId> neighbour(NodeId node, std::int32_t axis, Torus::Direction direction) const;
  TofuPlace place_in_machine(const TofuPlace& place) const; // the whole machine's coordinates of a place of this part
  std::string text(NodeId node) const;                      // "(3,0,1,0,2,1)", in the whole machine's coordinates

  bool whole() const { return dead_nodes_.empty() && dead_links_.empty(); } // nothing is dead
  bool alive(NodeId node) const;
  const std::vector<NodeId>& dead_nodes() const { return dead_nodes_; }
  const std::vector<LinkId>& dead_links() const { return dead_links_; } // not those of dead nodes

  // One of the ways between two nodes: by this place (a, b, c) of the first one's group. Its own is the normal way.
  struct Way {
    std::int32_t a = 0, b = 0, c = 0;
    bool operator==(const Way&) const = default;
  };
  Way normal_way(const TofuPlace& from) const { return {from[a], from[b], from[c]}; }
  std::vector<Way> ways() const; // all 12
  void append_way(const TofuPlace& from, const TofuPlace& to, const Way& way, std::vector<LinkId>& route) const;
  std::int32_t hops(const TofuPlace& from, const TofuPlace& to, const Way& way) const;
  // The way that a message takes: the normal one, or the shortest live one. None where all 12 are dead.
  std::optional<Way> live_way(const TofuPlace& from, const TofuPlace& to) const;
  void append_route(const TofuPlace& from, const TofuPlace& to, std::vector<LinkId>& route) const;
  std::int32_t distance(const TofuPlace& from, const TofuPlace& to) const;

  std::int32_t nodes() const override { return torus_.nodes(); }
  std::int64_t link_bound() const override { return torus_.link_bound(); }
  bool is_link(LinkId link) const override;
  // Both nodes alive and not cut off from each other.
  void append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const override;
  std::int32_t distance(NodeId from, NodeId to) const override;
  std::int32_t diameter() const override { return torus_.diameter(); } // while all parts live
  std::int64_t bisection_links() const override { return torus_.bisection_links(); }
  std::int32_t degree() const override { return torus_.degree(); }
  Link describe(LinkId link) const override;
  std::string name() const override; // "Tofu 24x18x17x2x3x2"

 protected:
  std::int64_t count_links() const override;

 private:
  explicit Tofu(const Shape& shape) : torus_(shape) {}
  bool dead(LinkId link) const;
  bool dead(std::span<const LinkId> route) const;

  Torus torus_;
  TofuPlace first_{}, machine_{};  // of the whole machine: where this part begins, the lengths of its axes
  std::vector<NodeId> dead_nodes_; // sorted
  std::vector<LinkId> dead_links_; // sorted, both directions of each cable
};

} // namespace kumihimo
