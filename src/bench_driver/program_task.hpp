// Checks and measures program sets that are no collective: halo exchanges and programs from files.
#pragma once

#include "bench_driver/job.hpp"
#include "bench_driver/program_check.hpp"
#include "bench_driver/task.hpp"
#include "execute/compiled_program.hpp"

namespace kumihimo::bench_driver {

// The engine's run of a set, beside which others are measured.
NamedCandidate our_candidate(const ProgramSet& set, execute::CompileOptions options, Rank rank,
                             transport::Transport& transport);

// The tasks: print a result for each of Task::programs. Of a measurement the results of all candidates are compared
// with the golden copy before, and with one another in all turns.
Status run_program_checks(Job& job, const Task& task);
Status measure_programs(Job& job, const Task& task);

} // namespace kumihimo::bench_driver
