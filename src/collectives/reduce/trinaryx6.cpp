// trinaryx6: reduce over link-disjoint trees of a torus (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

kumihimo::Variant kumihimo::reduce_trinaryx6::row() { return trinary(trinaryx6, {trinary_reduce(trinaryx6)}); }
