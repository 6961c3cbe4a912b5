// The MPI library's own collectives, alone and put together, as candidates of one collective: what a guideline compares
// (Traeff, Gropp, Thakur, Self-consistent MPI Performance Requirements, TPDS 21(5), 2010; Hunold, Carpen-Amarie,
// Autotuning MPI Collectives using Performance Guidelines, HPC Asia 2018).
#pragma once

#include "bench_driver/candidate.hpp"
#include "bench_driver/library_call.hpp"

#include <memory>

namespace kumihimo::bench_driver {

// `collective` is an allreduce, whose vectors all calls use: input to output, a bcast alone within the input. Blocks
// are its parts, one a rank, of which there must be whole ones.
std::unique_ptr<BenchCandidate> library_candidate(const mpi::Library& library, const LibraryCall& call,
                                                  const Collective& collective, Rank rank);

} // namespace kumihimo::bench_driver
