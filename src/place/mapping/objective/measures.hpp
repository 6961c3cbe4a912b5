// Measures that judge a placement, computed from the network's own distances and routes: the golden copy of the
// search's faster forms, and the numbers that users see.
#pragma once

#include "mapping/objective/assignment.hpp"
#include "mapping/objective/host.hpp"
#include "traffic/traffic.hpp"

namespace kumihimo::mapping {

struct Measures {
  double average_hops = 0;         // of a byte that leaves its rank
  double hop_bytes = 0;            // exact below 2^53
  std::int64_t link_bytes_max = 0; // of the busiest directed link
  std::int64_t off_node_bytes = 0; // between ranks on different nodes
  bool operator==(const Measures&) const = default;
};

Measures measure(const Traffic& traffic, const MappingHost& host, const Assignment& assignment);

} // namespace kumihimo::mapping
