// trinaryx3: reduce over link-disjoint trees of a torus (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

namespace kumihimo::reduce_trinaryx3 {

Variant row() { return trinary(trinaryx3, {trinary_reduce(trinaryx3)}); }

} // namespace kumihimo::reduce_trinaryx3
