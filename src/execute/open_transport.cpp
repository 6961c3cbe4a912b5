#include "execute/open_transport.hpp"

#include "execute/mpi/mpi_transport.hpp"

#include <utility>

namespace kumihimo::execute {

Result<std::unique_ptr<transport::Transport>> open_transport(const mpi::Library& library, mpi::Handle communicator,
                                                             TransportOptions options) {
  return std::unique_ptr<transport::Transport>(TRY(MpiTransport::create(library, communicator, std::move(options))));
}

} // namespace kumihimo::execute
