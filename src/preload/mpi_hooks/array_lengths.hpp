// How many entries the arrays of a collective call have, and what its counts come to.
#pragma once

#include "mpi_hooks/call.hpp"

#include <cstdint>

namespace kumihimo::mpi_hooks {

// The topology of a communicator; MPI_Topo_test's numbers for them differ among libraries.
enum class TopologyKind : std::uint8_t { none, cartesian, graph, distributed };
TopologyKind topology_of(Handle communicator);

// The number of destination and of source ranks of a call: the size of its communicator (of the other group, on an
// intercommunicator), or the numbers of neighbours for neighbour collectives. `own`: the ranks of this rank's group.
struct ArrayLengths {
  int sends = 0, receives = 0, own = 0;
};
ArrayLengths array_lengths_of(const HookedCall& call);
// The entries of the array with this role.
int entries(const HookedCall& call, const ArrayLengths& lengths, Role array);

} // namespace kumihimo::mpi_hooks
