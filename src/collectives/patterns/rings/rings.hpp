// Rings along one axis of a torus after the other, and several of them at once: rows that differ in cost. bucket.cpp
// has them of one vector, bucket_of_blocks.cpp of an array of blocks.
#pragma once

#include "collectives/registry.hpp"

namespace kumihimo {

Variant bucket(Cost cost); // of allreduce
Variant rotated_rings(Cost cost);
Variant bucket_of_blocks(Cost cost); // of allgather and reduce_scatter
Variant rotated_rings_of_blocks(Cost cost);

} // namespace kumihimo
