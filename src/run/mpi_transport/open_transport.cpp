#include "mpi_transport/open_transport.hpp"

#include "mpi_transport/mpi_transport.hpp"

#include <utility>

namespace kumihimo::mpi_transport {

Result<std::unique_ptr<transport::Transport>> open_transport(const mpi::Library& library, mpi::Handle communicator,
                                                             TransportOptions options) {
  return std::unique_ptr<transport::Transport>(TRY(MpiTransport::create(library, communicator, std::move(options))));
}

} // namespace kumihimo::mpi_transport
