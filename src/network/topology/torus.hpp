// Torus and mesh of any number of dimensions, wrap-around per axis, with dimension-order routing: the axes are walked
// in order, each the shorter way. At exactly half a ring even coordinates go +, odd ones -, so that opposite exchanges
// spread over both ways round.
#pragma once

#include "topology/shape.hpp"
#include "topology/topology.hpp"

namespace kumihimo {

class Torus final : public Topology {
 public:
  explicit Torus(Shape shape) : shape_(std::move(shape)) {}

  enum class Direction : std::int8_t { plus, minus };

  const Shape& shape() const { return shape_; }

  // The link that leaves `node` along the axis; it exists unless it would leave a mesh, or the axis has length 1. On an
  // axis of length 2, + is the cable at coordinate 0 and - the same cable seen from coordinate 1.
  LinkId link(NodeId node, std::int32_t axis, Direction direction) const {
    return LinkId{(static_cast<std::int64_t>(node.value) * shape_.dimensions() + axis) * 2 +
                  (direction == Direction::minus)};
  }
  NodeId neighbour(NodeId node, std::int32_t axis, Direction direction) const {
    return NodeId{shape_.shifted(node.value, axis, direction == Direction::plus ? 1 : -1)};
  }
  // Hops along one axis from one coordinate to another: > 0 along +, < 0 along -.
  std::int32_t hops(std::int32_t axis, std::int32_t from, std::int32_t to) const;

  std::int32_t nodes() const override { return shape_.places(); }
  std::int64_t link_bound() const override { return std::int64_t{nodes()} * shape_.dimensions() * 2; }
  bool is_link(LinkId link) const override;
  void append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const override;
  std::int32_t distance(NodeId from, NodeId to) const override;
  std::int32_t diameter() const override;
  std::vector<std::string> link_classes() const override; // one an axis: "x", "y" ...
  std::int32_t link_class(LinkId link) const override {
    return static_cast<std::int32_t>(link.value / 2 % shape_.dimensions());
  }
  std::vector<std::int64_t> ports() const override;
  std::vector<Cut> cuts() const override; // across each axis
  std::int64_t bisection_links() const override;
  std::int32_t degree() const override;
  // Any places, but even ones on an even ring, where the way to the opposite place is that of the sender's coordinate.
  Shifts shifts() const override;
  LinkId shifted(LinkId link, std::int32_t axis) const override;
  Link describe(LinkId link) const override;
  std::string name() const override;

 protected:
  std::int64_t count_links() const override;

 private:
  std::int32_t period(std::int32_t axis) const;

  Shape shape_;
};

} // namespace kumihimo
