// The nodes of a job as an architecture of Scotch: what its own maps are onto.
#pragma once

#include "mapping/objective/host.hpp"
#include "mapping_run/scotch_objects.hpp"

#include <vector>

namespace kumihimo::mapping_run {

// A torus or mesh where distances are sums over axes, a tree for a fat tree. All else is a table of distances, and a
// tree of the network's levels if it has too many nodes for a table. Other nodes have other numbers of slots only in a
// table; elsewhere all that have slots are alike, and the caller repairs the map.
class ScotchTarget {
 public:
  using Number = ScotchFunctions::Number;
  ScotchTarget(const ScotchFunctions& scotch, const mapping::MappingHost& host);

  bool is_usable() const { return is_usable_; } // false: fewer than two nodes, or nothing of the above
  const void* arch() { return is_part_ ? some_.get() : all_.get(); }
  Number nodes() const { return static_cast<Number>(nodes_.size()); }
  // The node that a part of a map stands for; -1: none.
  std::int32_t node(Number part) const {
    return part >= 0 && part < nodes() ? nodes_[static_cast<std::size_t>(part)] : -1;
  }

 private:
  bool build_box(const mapping::MappingHost& host);
  bool build_tree(const mapping::MappingHost& host);
  bool build_table(const mapping::MappingHost& host);
  bool keep_nodes(std::vector<Number> place_of_node, Number places);

  const ScotchFunctions& scotch_;
  Owned all_, some_;
  std::vector<std::int32_t> nodes_; // those with slots, by their number in Scotch
  bool is_part_ = false, is_usable_ = false;
};

} // namespace kumihimo::mapping_run
