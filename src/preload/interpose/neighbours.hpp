// The neighbours of a communicator with a topology: a Cartesian one, a graph or a distributed graph.
#pragma once

#include "mpi/library.hpp"
#include "schedule/neighbourhood.hpp"
#include "topology/shape.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace kumihimo::interpose {

// The neighbours of all ranks, the same on all ranks. Null: no topology, or lists that do not match. Collective.
std::shared_ptr<const Neighbourhood> neighbours_of(const mpi::Library& library, mpi::Handle communicator);

// The axes of a Cartesian communicator. Of this rank alone.
Result<Shape> axes_of(const mpi::Library& library, mpi::Handle communicator);

// A rank's own edges in a distributed graph, in the order that the library gives them. Nothing if the library fails.
struct OwnEdges {
  std::vector<std::int32_t> sources, source_weights, destinations, destination_weights;
  bool weighted = false; // else the weights are 1
};
std::optional<OwnEdges> own_edges(mpi::Handle communicator);

} // namespace kumihimo::interpose
