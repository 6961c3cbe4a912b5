// The graph libraries that are installed here: Scotch 7 and METIS 5, opened at run time. Their functions are declared
// here; no header of theirs is needed to build.
#pragma once

#include "mapping/partition/partitioner.hpp"

#include <memory>
#include <vector>

namespace kumihimo::mapping_run {

// Partitioners that can be opened, the better first; none where none is installed. The libraries stay loaded.
std::vector<std::unique_ptr<mapping::Partitioner>> open_partitioners();

} // namespace kumihimo::mapping_run
