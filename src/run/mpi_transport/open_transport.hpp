// The only file that knows which transports there are. Callers see transport::Transport.
#pragma once

#include "mpi/library.hpp"
#include "mpi_transport/transport_options.hpp"
#include "transport/transport.hpp"

#include <memory>

namespace kumihimo::mpi_transport {

// The transport of a communicator's ranks. Collective over `communicator`, whatever its error handler: either all ranks
// get a transport or none. The library must outlive the transport. `communicator` must exist in each prepare().
Result<std::unique_ptr<transport::Transport>> open_transport(const mpi::Library& library, mpi::Handle communicator,
                                                             TransportOptions options = {});

} // namespace kumihimo::mpi_transport
