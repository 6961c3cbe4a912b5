// pairwise: alltoall by direct messages, one distance after the other (patterns/direct.cpp).
#include "collectives/patterns/direct.hpp"

namespace kumihimo::alltoall_pairwise {

Variant row() { return direct_exchange("blocks exchanged directly, one distance after the other", false); }

} // namespace kumihimo::alltoall_pairwise
