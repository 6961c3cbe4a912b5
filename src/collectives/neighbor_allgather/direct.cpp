// direct: neighbor_allgather by direct messages (patterns/neighbours.cpp).
#include "collectives/patterns/neighbours.hpp"

namespace kumihimo::neighbor_allgather_direct {

Variant row() { return direct_to_neighbours(); }

} // namespace kumihimo::neighbor_allgather_direct
