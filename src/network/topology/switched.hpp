// Networks whose nodes hang on switches: fat trees, dragonflies, graphs. Their nodes have no axes; what an algorithm
// may know of them is which nodes are close, as levels of consecutive nodes.
#pragma once

#include "topology/level.hpp"
#include "topology/topology.hpp"

#include <algorithm>
#include <string_view>

namespace kumihimo {

class Switched : public Topology {
 public:
  virtual std::vector<Level> levels() const = 0; // of nodes, outermost first; none that holds all nodes, or one

  // A job on the first nodes; all switches stay where they are. 1 <= nodes <= nodes().
  virtual std::shared_ptr<const Switched> part(std::int32_t nodes) const = 0;

  // The ways of routing that the family has, the usual one first, and the same network with another.
  virtual std::vector<std::string_view> routings() const = 0;
  virtual std::string_view routing() const = 0;
  virtual std::shared_ptr<const Switched> routed(std::string_view routing) const = 0; // one of routings()

  // Of the cut with the fewest links.
  std::int64_t bisection_links() const override;
  std::int32_t degree() const override;

 protected:
  // Where a message goes that is spread by its two ends: the same for the same ends, whatever else is under way.
  static std::uint64_t hash(NodeId from, NodeId to);
};

} // namespace kumihimo
