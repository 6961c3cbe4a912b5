// The task of a launch: every candidate by turns, in the same processes, so that a disturbance affects all of them.
#pragma once

#include "application/partner_copies.hpp"
#include "application/processes.hpp"
#include "application/request.hpp"

#include <string>

namespace kumihimo::application {

// Prints, by rank 0, one line each: {"about": ...}, {"progress": ...} while a run goes on, and {"result": ...} of each
// run in turn. Errors on which all ranks agree are returned; of several candidates, one that does not fit or fails is a
// result with the sentence as "not_applicable", and "failed". `threads_text`: where the threads run. Collective.
// `kept`: of a run that may lose ranks (spare_ranks.hpp).
Status run_task(const ApplicationTask& task, Processes& processes, const std::string& threads_text,
                KeptCopies* kept = nullptr);

} // namespace kumihimo::application
