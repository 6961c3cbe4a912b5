// Marks by which the algorithms of a collective are told apart from outside, whatever the library:
//   sum    the bits of a sum of doubles whose order of addition shows in the last ones. From 3 ranks on.
//   nan    the bits of a sum of NaNs, one to a rank: of two, an addition hands on one, told by the order of its
//          operands, so that even with 2 ranks it shows who added which elements.
// Calls without arithmetic have none.
// A mark that is not the same each time is not given.
#pragma once

#include "bench_driver/library_candidate.hpp"
#include "mpi_job/job.hpp"

#include <nlohmann/json_fwd.hpp>

namespace kumihimo::bench_driver {

using mpi_job::MpiJob;

// Collective: {"sum": hex, ...}. Error, on all ranks: the library refuses the call, or no memory. `collective` is an
// allreduce of doubles by sum.
Result<nlohmann::json> fingerprint_of(MpiJob& job, const LibraryCall& call, const Collective& collective);

} // namespace kumihimo::bench_driver
