// trinaryx3: broadcast over link-disjoint trees of a torus (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

kumihimo::Variant kumihimo::bcast_trinaryx3::row() { return trinary(trinaryx3, {trinary_bcast(trinaryx3)}); }
