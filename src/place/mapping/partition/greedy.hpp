// The partitioner for machines without a library: grows one part from a vertex at the rim, then moves vertices over the
// border while that helps (Fiduccia and Mattheyses, DAC 1982).
#pragma once

#include "mapping/partition/partitioner.hpp"

#include <memory>

namespace kumihimo::mapping {

// Never fails for 0 <= first <= vertices.
std::unique_ptr<Partitioner> greedy_partitioner();

} // namespace kumihimo::mapping
