// direct: neighbor_allgather by direct messages (patterns/neighbours.cpp).
#include "collectives/patterns/neighbours.hpp"

kumihimo::Variant kumihimo::neighbor_allgather_direct::row() { return direct_to_neighbours(); }
