// The neighbours of a communicator with a topology: a Cartesian one, a graph or a distributed graph.
#pragma once

#include "mpi/library.hpp"
#include "schedule/neighbourhood.hpp"

#include <memory>

namespace kumihimo::interpose {

// The neighbours of all ranks, the same on all ranks. Null: no topology, or lists that do not match. Collective.
std::shared_ptr<const Neighbourhood> neighbours_of(const mpi::Library& library, mpi::Handle communicator);

} // namespace kumihimo::interpose
