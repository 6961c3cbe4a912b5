// trinary_mesh: broadcast over link-disjoint trees of a mesh (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

kumihimo::Variant kumihimo::bcast_trinary_mesh::row() { return trinary(trinary_mesh, {trinary_bcast(trinary_mesh)}); }
