// trinary_mesh: broadcast over link-disjoint trees of a mesh (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

namespace kumihimo::bcast_trinary_mesh {

Variant row() { return trinary(trinary_mesh, {trinary_bcast(trinary_mesh)}); }

} // namespace kumihimo::bcast_trinary_mesh
