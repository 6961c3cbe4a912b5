// trinaryx3: broadcast over link-disjoint trees of a torus (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

namespace kumihimo::bcast_trinaryx3 {

Variant row() { return trinary(trinaryx3, {trinary_bcast(trinaryx3)}); }

} // namespace kumihimo::bcast_trinaryx3
