// What the machine's own files share.
#pragma once

#include "machine/machine.hpp"

namespace kumihimo {

// Checks the slow parts against the machine's topology, and finds the links that they name.
Status place_slow_parts(Machine& machine);

// The machine as a job with this virtual torus sees it, or why there is none.
Result<Machine> with_torus(const Machine& machine, const Result<VirtualTorus>& torus);

// Six coordinates as they are printed, "3,0,1,0,2,1", of a node of the physical machine.
std::optional<NodeId> parse_node(const Tofu& network, std::string_view text);

} // namespace kumihimo
