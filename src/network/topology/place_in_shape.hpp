// Where a process stands in the shape of its job's nodes, as the job's surroundings tell it.
#pragma once

#include "base/ids.hpp"
#include "base/result.hpp"
#include "topology/shape.hpp"

#include <optional>
#include <string_view>

namespace kumihimo {

inline constexpr const char* shape_variable = "KUMIHIMO_SHAPE"; // of the nodes: 3x3x3
// A file with their names in the order of their places, a line each.
inline constexpr const char* hosts_variable = "KUMIHIMO_HOSTS";

struct PlaceInShape {
  Shape nodes;
  NodeId node;
};

// A rank of a job, on the host of this name.
struct RankOnHost {
  std::int32_t rank = 0, ranks = 1;
  std::string_view host;
};

// None where there is no shape. `hosts`: the text of that file, of whose lines the first words are names, so that a
// hostfile serves. Fewer ranks than nodes, and ranks in any order, find their places by it. Without it as many ranks
// are on each node, node by node. Errors: no shape, a host that is not among them, a number of nodes that does not
// divide the ranks.
Result<std::optional<PlaceInShape>> place_in_shape(std::string_view shape, std::string_view hosts,
                                                   const RankOnHost& rank);

} // namespace kumihimo
