// linear: alltoall by direct messages, up to `throttle` at once (patterns/direct.cpp).
#include "collectives/patterns/direct.hpp"

kumihimo::Variant kumihimo::alltoall_linear::row() {
  return direct_exchange("blocks exchanged directly, up to `throttle` at once", true);
}
