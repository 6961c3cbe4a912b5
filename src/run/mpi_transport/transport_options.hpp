// How the transport of a communicator is opened.
#pragma once

#include "mpi_transport/networks/network.hpp"
#include "shared_memory/node_segment.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kumihimo::mpi_transport {

struct TransportOptions {
  std::vector<std::int32_t> node_of_rank;                 // the emulated node of each rank; empty: the real nodes
  std::int64_t machine = shared_memory::machine_number(); // equal on all ranks: they are on one machine
  // Of a node. -1: half of what /dev/shm has free, shared by the nodes on it.
  std::int64_t shared_memory_limit_bytes = -1;
  bool single_copies = true;         // whether to find out if the system allows them; the same on all ranks
  std::int64_t tag_upper_bound = -1; // at most MPI_TAG_UB; -1: MPI_TAG_UB
  // Of one message of the MPI library, which counts in int. Longer ones travel in parts, in order, with one tag.
  std::int64_t most_at_once_bytes = std::int64_t{1} << 30;
  std::string network{wanted_network()}; // a row of networks.def; empty: the first
  double timeout_seconds = 0;            // fails after this time without any movement in a run; 0: never
};

// The emulated node of each rank: `each` consecutive ranks on each node, the rest on the last one.
inline std::vector<std::int32_t> nodes_of(std::int32_t ranks, std::int32_t each) {
  std::vector<std::int32_t> nodes;
  for (std::int32_t r = 0; r < ranks; ++r) nodes.push_back(r / each);
  return nodes;
}

} // namespace kumihimo::mpi_transport
