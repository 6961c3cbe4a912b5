// Control variables of the MPI library, set while it runs (MPI 4.0, section 15.3): what must not hold while it starts.
#pragma once

#include "mpi/library.hpp"

#include <string>

namespace kumihimo::bench_driver {

// Error: the library has no such variable, or does not let it be set now.
Status set_control(const mpi::Library& library, const std::string& name, int value);

} // namespace kumihimo::bench_driver
