// Problem from which all parts of a search start.
#pragma once

#include "mapping/objective/assignment.hpp"
#include "mapping/objective/graph.hpp"
#include "mapping/objective/host.hpp"
#include "traffic/traffic.hpp"

#include <optional>
#include <string>

namespace kumihimo::mapping {

struct MappingProblem {
  const Traffic& traffic;
  const TrafficGraph& graph; // of the traffic, weighed for the host
  const MappingHost& host;
  std::optional<Shape> grid; // that the ranks are known to form, in row-major order
};

struct NamedMap {
  std::string name; // as users read it: "fold 4x4", "digits of ranks", "bisection by Scotch"
  Assignment map;
};

} // namespace kumihimo::mapping
