// A run that outlives the death of a rank. The job has more ranks than the application, and the others are spare: they
// wait until a rank dies, and one takes its place. The bits of an application may depend on the number of ranks, which
// therefore stays.
//
// After a death all living ranks leave the application by an error or mpi::RankLost, whatever they were doing, and
// begin it anew with new communicators. Its first call of Checkpoints::at_iteration() goes on from the last copies in
// memory. So no solver knows of it. Needs mpi::tolerate_losses().
#pragma once

#include "application/partner_copies.hpp"
#include "application/processes.hpp"
#include "mpi_job/job.hpp"

#include <cstdint>
#include <functional>

namespace kumihimo::application {

// Of the ranks with a place, of which `job` is. An error is known to all of them.
using RunOnPlaces = std::function<Status(mpi_job::MpiJob& job, Processes& processes, KeptCopies& kept)>;

// Collective over all ranks that were launched, the last `spares` of which wait. Prints the error of the run, if it has
// one, as the ranks know it. Errors: those of mpi::tolerate_losses(); too few ranks.
Status run_with_spares(mpi_job::MpiJob& launched, std::int32_t spares, const RunOnPlaces& run);

} // namespace kumihimo::application
