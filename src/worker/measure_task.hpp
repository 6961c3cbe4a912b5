// How long collectives take beside the MPI library's own: in the same processes, by turns, so that whatever the machine
// does touches all contestants alike.
//
// A turn makes one call of each contestant, in an order that changes from turn to turn. Before each call the input is
// written anew and all ranks meet in the library's barrier; a sample is the largest of the ranks' times for the call,
// which includes looking the plan up. The first call of a contestant, which makes its plan, is timed apart.
#pragma once

#include "worker/job.hpp"
#include "worker/task.hpp"

namespace kumihimo::worker {

// Prints a result for every case. Consecutive cases with the same question and space share the turns.
Status run_measure(Job& job, const Task& task);

} // namespace kumihimo::worker
