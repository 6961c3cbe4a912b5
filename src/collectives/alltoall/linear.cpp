// linear: alltoall by direct messages, up to `throttle` at once (patterns/direct.cpp).
#include "collectives/patterns/direct.hpp"

namespace kumihimo::alltoall_linear {

Variant row() { return direct_exchange("blocks exchanged directly, up to `throttle` at once", true); }

} // namespace kumihimo::alltoall_linear
