// trinaryx3: reduce over link-disjoint trees of a torus (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

kumihimo::Variant kumihimo::reduce_trinaryx3::row() { return trinary(trinaryx3, {trinary_reduce(trinaryx3)}); }
