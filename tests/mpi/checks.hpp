// What mpi_check runs on every rank. A check says what is wrong on stderr and answers false.
#pragma once

#include "mpi/library.hpp"
#include "mpi_job/job.hpp"

namespace kumihimo::mpi {

// The tables of constants and functions: types, operations, attributes, communicators, windows, requests.
bool check_abi(const Library& library, int rank, int ranks);
// Messages in random orders, over shared memory, point-to-point and both.
bool check_transport(const Library& library, int rank, int ranks);
// Briefly, over both at once.
bool check_mixed_transport(const Library& library, int rank, int ranks);
// One-sided writes over each provider of libfabric that is here.
bool check_remote_memory(mpi_job::MpiJob& job);
// A wait must drive the library: a message of the program's own is under way meanwhile.
bool check_progress_of_the_library(const Library& library, int rank, int ranks);
// Every algorithm on several shapes, `draws` cases each, against the golden copy; 0: one case on one shape, of
// nodes of several ranks where the algorithm takes them.
bool check_collectives(mpi_job::MpiJob& job, int draws);
bool check_three_trees(mpi_job::MpiJob& job);
bool check_that_wrong_results_are_found(mpi_job::MpiJob& job);
// Halo exchanges, by the engine and by hand, on every grid of the ranks; wrong ghost cells are found.
bool check_halos(mpi_job::MpiJob& job);
bool check_that_wrong_ghosts_are_found(mpi_job::MpiJob& job);
// An algorithm of a network's engine is not applicable, on all ranks alike.
bool check_that_offloads_are_refused(mpi_job::MpiJob& job);

// One rank's vectors are longer than the others': does not return, since the rank that finds it tells it and ends all.
void measure_unequal_counts(mpi_job::MpiJob& job);

} // namespace kumihimo::mpi
