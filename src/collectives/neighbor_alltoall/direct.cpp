// direct: neighbor_alltoall by direct messages (patterns/neighbours.cpp).
#include "collectives/patterns/neighbours.hpp"

kumihimo::Variant kumihimo::neighbor_alltoall_direct::row() { return direct_to_neighbours(); }
