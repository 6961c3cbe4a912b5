// trinary_mesh: reduce, then broadcast, over link-disjoint trees of a mesh (patterns/trees/trinary_schedule.cpp).
#include "collectives/patterns/trees/trinary.hpp"

kumihimo::Variant kumihimo::allreduce_trinary_mesh::row() {
  return trinary(trinary_mesh, {trinary_reduce(trinary_mesh) + trinary_bcast(trinary_mesh)});
}
