// One shared-memory node: no links, every rank beside every other.
#pragma once

#include "topology/topology.hpp"

namespace kumihimo {

class SingleNode final : public Topology {
 public:
  std::int32_t nodes() const override { return 1; }
  std::int64_t link_bound() const override { return 0; }
  bool is_link(LinkId) const override { return false; }
  void append_route(NodeId, NodeId, std::vector<LinkId>&) const override {}
  std::int32_t distance(NodeId, NodeId) const override { return 0; }
  std::int32_t diameter() const override { return 0; }
  std::int64_t bisection_links() const override { return 0; }
  std::int32_t degree() const override { return 0; }
  Link describe(LinkId) const override { return {}; }
  std::string name() const override { return "single node"; }
};

} // namespace kumihimo
