// A set of slots that a set of ranks shares, and how it is cut in two.
#pragma once

#include "mapping/objective/host.hpp"
#include "mapping/search/tools.hpp"

#include <vector>

namespace kumihimo::mapping {

struct Domain {
  std::vector<std::int32_t> slots, ranks; // no more ranks than slots

  bool is_one_node(const MappingHost& host) const;
};

// Sorts the slots and says where to cut: those before are one half, the others the second; both have some. On axes:
// across the axis of the greatest extent, between two planes where that is close to the middle. Otherwise slots of
// close numbers stay together, and the cut is between distant nodes close to the middle. `random` chooses among equal
// axes.
std::size_t cut_of(const MappingHost& host, std::vector<std::int32_t>& slots, Random& random);

} // namespace kumihimo::mapping
