// MPI_Cart_create, MPI_Dist_graph_create and MPI_Dist_graph_create_adjacent with reorder = true (ADR 38). The MPI
// library makes the topology without reordering, so that it alone checks the arguments. Then the ranks of the new
// communicator agree, one of them looks for a better order (reorder_choice.hpp), and if there is one, the library makes
// a second communicator in that order, which the program gets in place of the first.
//
// A graph stays the same graph: the lists of its node i go to the process that now has rank i.
#pragma once

#include "mpi_hooks/call.hpp"

namespace kumihimo::interpose {

// Before any call that makes a communicator goes on to the library.
void before_reorder(mpi_hooks::HookedCall& call);
// After such a call succeeded: puts another communicator in the place of its own, or does not. Collective.
void after_reorder(const mpi_hooks::HookedCall& call);

} // namespace kumihimo::interpose
