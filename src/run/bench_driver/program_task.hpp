// Checks and measures program sets that are no collectives: halo exchanges and programs from files.
#pragma once

#include "bench_driver/program_check.hpp"
#include "bench_driver/task.hpp"
#include "execute/compiled_program.hpp"
#include "mpi_job/job.hpp"

namespace kumihimo::bench_driver {

// The engine's run of a program set, as a candidate.
NamedCandidate our_candidate(const ProgramSet& set, execute::CompileOptions options, Rank rank,
                             transport::Transport& transport);

// Run the tasks: print a result for each of BenchTask::programs. A measurement first compares the results of all
// candidates with the golden copy, and then with each other in all turns.
Status run_program_checks(MpiJob& job, const BenchTask& task);
Status measure_programs(MpiJob& job, const BenchTask& task);

} // namespace kumihimo::bench_driver
