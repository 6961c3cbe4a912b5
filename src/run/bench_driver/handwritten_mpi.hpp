// Program sets as hand-written MPI code, measured beside the engine.
#pragma once

#include "bench_driver/candidate.hpp"
#include "halo/halo.hpp"
#include "program/computing.hpp"

#include <memory>
#include <string>
#include <vector>

namespace kumihimo::bench_driver {

struct NamedCandidate {
  std::string name; // its MPI calls
  std::unique_ptr<BenchCandidate> candidate;
};

// A halo exchange three times: MPI_Isend and MPI_Irecv of derived types; of buffers that are packed and unpacked; and
// MPI_Neighbor_alltoallw of derived types on a graph of the neighbours. Cells that need no ghosts are computed while
// messages are under way; then the last one is MPI_Ineighbor_alltoallw. Collective, as is its destruction.
std::vector<NamedCandidate> halo_by_hand(const mpi::Library& library, mpi::Handle world, const Halo& halo, Rank rank);

// MPI_Isend, MPI_Irecv and MPI_Waitall for each round of a rank's only lane. Error, of this rank alone: several lanes,
// segments, loops, or steps that such a program has no simple call for.
Result<NamedCandidate> rounds_by_hand(const mpi::Library& library, mpi::Handle world, const ProgramSet& set, Rank rank,
                                      const ComputeRates& rates);

} // namespace kumihimo::bench_driver
