// The MPI library's own collectives, alone and put together, as candidates of one question: what a guideline compares
// (Traeff, Gropp, Thakur, Self-consistent MPI Performance Requirements, TPDS 21(5), 2010; Hunold, Carpen-Amarie,
// Autotuning MPI Collectives using Performance Guidelines, HPC Asia 2018).
#pragma once

#include "bench_driver/candidate.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::bench_driver {

// What is called: "allreduce", "alltoall", ...; "reduce+bcast", "reduce_scatter+allgather": one on what the other left;
// "2 bcast": the vector in halves, one after the other.
struct LibraryCall {
  std::vector<CollectiveKind> steps;
  std::int64_t parts = 1;

  bool reduces() const;
};
Result<LibraryCall> parse_library_call(std::string_view name);

// `question` is an allreduce, whose vectors all calls use: input to output, a bcast alone within the input. Blocks are
// its parts, one a rank, of which there must be whole ones. `operation` in place of the question's own.
std::unique_ptr<Candidate> library_candidate(const mpi::Library& library, const LibraryCall& call,
                                             const Collective& question, Rank rank,
                                             std::optional<mpi::Handle> operation = {});

} // namespace kumihimo::bench_driver
