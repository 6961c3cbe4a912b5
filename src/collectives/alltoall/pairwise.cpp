// pairwise: alltoall by direct messages, one distance after the other (patterns/direct.cpp).
#include "collectives/patterns/direct.hpp"

kumihimo::Variant kumihimo::alltoall_pairwise::row() {
  return direct_exchange("blocks exchanged directly, one distance after the other", false);
}
