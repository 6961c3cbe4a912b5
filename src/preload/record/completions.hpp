// Which requests a wait or test completes. Their handles are noted before the call, which overwrites them.
#pragma once

#include "mpi/library.hpp"
#include "mpi_hooks/call.hpp"

#include <vector>

namespace kumihimo::record {

// Whether the call may complete requests. (MPI_Request_get_status does not.)
bool completes(const mpi_hooks::HookedCall& call);

// The requests of the completion call that is under way on this thread.
const std::vector<mpi::Handle>& noted_requests();
void note_requests(const mpi_hooks::HookedCall& call);

// Places among the noted requests of those that the call has completed.
std::vector<int> completed(const mpi_hooks::HookedCall& call);

} // namespace kumihimo::record
