// Scotch 7 (Pellegrini, Roman, HPCN 1996), if it is installed.
#pragma once

#include "mapping/partition/partitioner.hpp"

#include <memory>

namespace kumihimo::mapping_run {

std::unique_ptr<mapping::Partitioner> open_scotch(); // nothing: not installed

} // namespace kumihimo::mapping_run
