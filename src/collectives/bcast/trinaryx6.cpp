// trinaryx6: broadcast over link-disjoint trees of a torus (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

namespace kumihimo::bcast_trinaryx6 {

Variant row() { return trinary(trinaryx6, {trinary_bcast(trinaryx6)}); }

} // namespace kumihimo::bcast_trinaryx6
