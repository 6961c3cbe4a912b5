// The neighbours of a communicator with a topology: a Cartesian one, a graph or a distributed graph.
#pragma once

#include "mpi/library.hpp"
#include "schedule/neighbourhood.hpp"

#include <memory>

namespace kumihimo::interpose {

// Those of all ranks; null where there is no topology, or its lists do not meet. The same on all ranks. Collective.
std::shared_ptr<const Neighbourhood> neighbours_of(const mpi::Library& library, mpi::Handle communicator);

} // namespace kumihimo::interpose
