// A network as a computed graph: nodes and directed links are numbers, neighbours and routes are arithmetic. Nothing is
// stored per node, per link or per pair, so that 82,944 nodes cost as much memory as eight.
#pragma once

#include "base/ids.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo {

class Topology {
 public:
  virtual ~Topology() = default;

  virtual std::int32_t nodes() const = 0;

  // Link ids lie in [0, link_bound()); on families whose border nodes lack links, some ids name no link.
  virtual std::int64_t link_bound() const = 0;
  virtual bool is_link(LinkId link) const = 0;
  std::int64_t links() const; // how many there are, O(link_bound) unless the family knows better

  // The links that a message from one node to another crosses, in order, appended to `route`. Empty where from == to.
  virtual void append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const = 0;
  virtual std::int32_t distance(NodeId from, NodeId to) const = 0; // hops: the length of that route
  virtual std::int32_t diameter() const = 0;                       // the longest distance, hops

  // Directed links that leave one half of the nodes for the other, over the narrowest halving that the family knows. On
  // a torus that is a cut across one axis; where its length is odd the halves differ by one plane of nodes.
  virtual std::int64_t bisection_links() const = 0;
  virtual std::int32_t degree() const = 0; // the most links that leave one node

  struct Link {
    NodeId from, to;
    std::string name; // as people say it: "+x at (3,0,1)"
  };
  virtual Link describe(LinkId link) const = 0;
  virtual std::string name() const = 0; // "torus 48x6x32", "single node"

 protected:
  virtual std::int64_t count_links() const;
};

using TopologyPtr = std::shared_ptr<const Topology>;

} // namespace kumihimo
