// METIS 5 (Karypis, Kumar, SIAM J. Sci. Comput. 20, 1998), if it is installed.
#pragma once

#include "mapping/partition/partitioner.hpp"

#include <memory>

namespace kumihimo::mapping_run {

std::unique_ptr<mapping::Partitioner> open_metis(); // nothing: not installed, or built with integers of 64 bits

} // namespace kumihimo::mapping_run
