// A torus of routers with several nodes each, as Cray's Gemini with two: messages between nodes of a router pass the
// router alone, all others walk the torus of routers by dimension order. Nodes are numbered router by router.
#pragma once

#include "topology/torus.hpp"

namespace kumihimo {

class RouterTorus final : public Topology {
 public:
  RouterTorus(Shape routers, std::int32_t nodes_per_router);

  const Torus& routers() const { return routers_; }
  std::int32_t nodes_per_router() const { return each_; }

  std::int32_t nodes() const override { return routers_.nodes() * each_; }
  std::int32_t switches() const override { return routers_.nodes(); }
  std::int64_t link_bound() const override { return first_cable() + routers_.link_bound(); }
  bool is_link(LinkId link) const override;
  void append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const override;
  std::int32_t distance(NodeId from, NodeId to) const override;
  std::int32_t diameter() const override { return nodes() > 1 ? routers_.diameter() + 2 : 0; }
  std::vector<std::string> link_classes() const override; // those of the torus, then "node"
  std::int32_t link_class(LinkId link) const override;
  std::vector<std::int64_t> ports() const override;
  std::vector<Cut> cuts() const override; // half of the nodes, and those of the torus
  std::int64_t bisection_links() const override;
  std::int32_t degree() const override { return nodes() > 1 ? 1 : 0; }
  Link describe(LinkId link) const override;
  std::string name() const override; // "torus 24x24x24 of routers with 2 nodes each"

 private:
  NodeId router(NodeId node) const { return NodeId{node.value / each_}; }
  std::int64_t first_cable() const { return std::int64_t{2} * nodes(); } // of the torus; those of nodes come first

  Torus routers_;
  std::int32_t each_;
};

} // namespace kumihimo
