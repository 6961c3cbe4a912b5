// A network as a computed graph: nodes and directed links are numbers, neighbours and routes are arithmetic. Nothing is
// stored per node, per link or per pair, so that 82,944 nodes cost as much memory as eight (a graph that was given edge
// by edge is kept, with a table between its switches).
#pragma once

#include "base/ids.hpp"
#include "topology/shape.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo {

class Topology {
 public:
  virtual ~Topology() = default;

  virtual std::int32_t nodes() const = 0;
  // Switches pass messages on and hold no rank; as ends of links they are numbered from nodes() on.
  virtual std::int32_t switches() const { return 0; }

  // Link ids lie in [0, link_bound()); on families whose border nodes lack links, some ids name no link.
  virtual std::int64_t link_bound() const = 0;
  virtual bool is_link(LinkId link) const = 0;
  std::int64_t links() const; // how many there are, O(link_bound) unless the family knows better

  // The links that a message from one node to another crosses, in order, appended to `route`. Empty where from == to.
  virtual void append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const = 0;
  virtual std::int32_t distance(NodeId from, NodeId to) const = 0; // hops: the length of that route
  virtual std::int32_t diameter() const = 0;                       // the longest distance, hops
  virtual bool has_shortest_ways() const { return true; } // false: by way of a third node there may be fewer hops

  // Links of a class have the same bandwidth: those of an axis, of a level of switches, between groups. A topology
  // names the classes; a machine has the numbers.
  virtual std::vector<std::string> link_classes() const { return {}; } // none: all links are alike
  virtual std::int32_t link_class(LinkId) const { return 0; }
  // Whether messages share the link's bandwidth; each has it to itself where they do not.
  virtual bool is_shared(LinkId) const { return true; }
  // The links that leave one node, by class; on the node that has most.
  virtual std::vector<std::int64_t> ports() const { return {degree()}; }

  // The network cut in two: the share of the nodes on the smaller side, and the directed links from it to the other, by
  // class.
  struct Cut {
    double share = 0.5;
    std::vector<std::int64_t> links;
  };
  virtual std::vector<Cut> cuts() const; // those that the family knows, among them its narrowest halving

  // Directed links that leave one half of the nodes for the other, over the narrowest halving that the family knows. On
  // a torus that is a cut across one axis; where its length is odd the halves differ by one plane of nodes.
  virtual std::int64_t bisection_links() const = 0;
  virtual std::int32_t degree() const = 0; // the most links that leave one node

  // The shifts of all nodes along the axes of a box that are symmetries: the route between the images of two nodes is
  // the image of the route between them, link by link. Along an axis by any multiple of its period, along several at
  // once; none but that by no place leaves a link where it is. No shape: none is known.
  struct Shifts {
    Shape shape;
    std::vector<std::int32_t> periods; // by axis; its length: none
  };
  virtual Shifts shifts() const { return {}; }
  // Where a shift by one period along the axis takes a link; ids that name none go to such.
  virtual LinkId shifted(LinkId link, std::int32_t) const { return link; }

  struct Link {
    NodeId from, to;  // a switch: nodes() or more
    std::string name; // as people say it: "+x at (3,0,1)"
  };
  virtual Link describe(LinkId link) const = 0;
  virtual std::string name() const = 0; // "torus 48x6x32", "single node"

 protected:
  virtual std::int64_t count_links() const;
};

using TopologyPtr = std::shared_ptr<const Topology>;

} // namespace kumihimo
