// alltoall in phases, along one axis or within one group of ranks after the other.
#pragma once

#include "collectives/registry.hpp"

namespace kumihimo {

Variant paced_phases(Cost cost);
Variant grouped_phases(int phases, Cost cost);

} // namespace kumihimo
