// Orders in which ranks take the slots of a job, by name.
//
//   block          all slots of node 0, then all of node 1, ...
//   round-robin    slot 0 of every node in turn, then slot 1 of every node that has one, ...
//   reversed-axes  as block, the nodes by the reverse order of their axes: the first axis runs fastest
//   random:SEED    any slot, the same for the same seed on every machine
#pragma once

#include "placement/placement.hpp"

#include <string_view>

namespace kumihimo {

// `nodes`: their shape; without axes where they have none. Errors: no such order; axes asked for of nodes without.
Result<Placement> placement_in_order(std::string_view order, const Slots& slots, const Shape& nodes);

} // namespace kumihimo
