// Gather and scatter over a tree whose subtrees hold ranges of ranks (round the end of the array): what every such tree
// shares. An algorithm is the arithmetic of one rank's place in it.
#pragma once

#include "collectives/patterns/blocks.hpp"

#include <optional>

namespace kumihimo {

// Ranks [first, first + count), cyclically.
struct RankRange {
  std::int64_t first = 0, count = 1;
};

struct RangePlace {
  std::optional<std::int64_t> parent;
  RankRange held; // the subtree
  struct Child {
    std::int64_t rank;
    RankRange held;
  };
  std::vector<Child> children; // by growing subtrees
};

// Gathered towards the root from the small subtrees on, scattered in the reverse order.
void write_range_tree(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r,
                      const RangePlace& place);

// The place of `rank` in the tree of `ranks` ranks. Errors: there is no tree of this number of ranks.
using PlaceOf = Result<RangePlace> (*)(std::int32_t ranks, std::int64_t root, std::int64_t rank);

// A row of gather and scatter.
Variant range_tree(std::string summary, Cost cost, std::string reference, PlaceOf place);

} // namespace kumihimo
