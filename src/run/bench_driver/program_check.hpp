// Does a program set leave on every rank what it must, run by the engine or written by hand?
#pragma once

#include "bench_driver/check.hpp"
#include "bench_driver/handwritten_mpi.hpp"
#include "bench_driver/vectors.hpp"
#include "program/named_programs.hpp"

#include <vector>

namespace kumihimo::bench_driver {

// The first element of a rank's buffer that is not what its origin held at first; -1: none. Of a halo: the first ghost
// cell that has not its owner's value. By the origins alone, whatever the programs are.
std::int64_t first_without_origin(const NamedPrograms& programs, Rank rank, std::uint64_t seed, const std::byte* found);

// Collective. Calls each candidate `repeats` times and compares with the golden copy, which walks all ranks' programs
// in one memory, and is compared with the origins. Errors: not enough memory; a candidate that cannot be made ready.
Result<CheckOutcome> check_programs(const MpiJob& job, const NamedPrograms& programs,
                                    const std::vector<NamedCandidate>& candidates, std::int32_t repeats);

} // namespace kumihimo::bench_driver
