// How long collectives take beside the MPI library's own: in the same processes, by turns (worker/turns.hpp). A call of
// ours includes looking its plan up; the first one makes the plan.
#pragma once

#include "worker/job.hpp"
#include "worker/task.hpp"

namespace kumihimo::worker {

// Prints a result for every case. Consecutive cases with the same question and space share the turns.
Status run_measure(Job& job, const Task& task);

} // namespace kumihimo::worker
