// trinary_mesh: reduce over link-disjoint trees of a mesh (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

namespace kumihimo::reduce_trinary_mesh {

Variant row() { return trinary(trinary_mesh, {trinary_reduce(trinary_mesh)}); }

} // namespace kumihimo::reduce_trinary_mesh
