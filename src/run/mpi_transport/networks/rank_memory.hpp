// Remote memory of the network fabric between the ranks of a communicator: a transport without messages. Also between
// ranks of one node, which a provider of libfabric joins, too.
#pragma once

#include "mpi/library.hpp"
#include "transport/transport.hpp"

#include <memory>

namespace kumihimo::mpi_transport {

class RankMemory {
 public:
  // Collective over the communicator, which outlives it, as the library does. Error: not applicable on all ranks, where
  // one of them has no libfabric or no provider for it.
  static Result<std::unique_ptr<RankMemory>> open(const mpi::Library& library, mpi::Handle communicator);
  virtual ~RankMemory() = default; // collective: until no rank needs another one's progress

  virtual transport::Transport& transport() = 0;
};

} // namespace kumihimo::mpi_transport
