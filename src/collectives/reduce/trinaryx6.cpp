// trinaryx6: reduce over link-disjoint trees of a torus (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

namespace kumihimo::reduce_trinaryx6 {

Variant row() { return trinary(trinaryx6, {trinary_reduce(trinaryx6)}); }

} // namespace kumihimo::reduce_trinaryx6
