// trinary_mesh: reduce over link-disjoint trees of a mesh (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

kumihimo::Variant kumihimo::reduce_trinary_mesh::row() { return trinary(trinary_mesh, {trinary_reduce(trinary_mesh)}); }
