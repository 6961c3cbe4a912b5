// direct: neighbor_alltoall by direct messages (patterns/neighbours.cpp).
#include "collectives/patterns/neighbours.hpp"

namespace kumihimo::neighbor_alltoall_direct {

Variant row() { return direct_to_neighbours(); }

} // namespace kumihimo::neighbor_alltoall_direct
