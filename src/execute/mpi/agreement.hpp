// Agreement among the ranks of a communicator on whether a step of a set-up worked.
#pragma once

#include "base/result.hpp"
#include "mpi/library.hpp"

namespace kumihimo::execute {

// Success if all ranks of the communicator bring success: otherwise an error on each. Collective.
Status agree(const mpi::Library& library, mpi::Handle communicator, const Status& mine);

} // namespace kumihimo::execute
