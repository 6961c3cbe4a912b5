// Program sets in the packet model: as graphs of operations on a job's nodes.
#pragma once

#include "goal/programs.hpp"
#include "machine/job.hpp"
#include "packet/graphs.hpp"
#include "program/program_set.hpp"

namespace kumihimo::packet {

// Each lane has an interface of its own, so that it issues one message at a time; a rank reduces, copies and computes
// on one processor. A send starts once its receive is posted, as in the models flow and exact. `placement`: none for
// block order. `background`: other jobs on nodes without a rank. Errors: those of run(machine, graphs) and
// goal::graphs_of; more ranks than slots.
Result<GraphOutcome> run(const Job& job, const ProgramSet& programs, const std::optional<Placement>& placement,
                         const PacketOptions& options = {}, bool scalar_reduction = false,
                         const Background& background = {});

// Graphs on a job's nodes. Errors: those of run(machine, graphs); more ranks than slots, or another number in the
// placement.
Result<GraphOutcome> run(const Job& job, const goal::Graphs& graphs, const std::optional<Placement>& placement,
                         const PacketOptions& options = {}, Observers observers = {});
// The same beside other jobs, as in run(machine, graphs, nodes, background).
Result<GraphOutcome> run(const Job& job, const goal::Graphs& graphs, const std::optional<Placement>& placement,
                         const Background& background, const PacketOptions& options = {});

} // namespace kumihimo::packet
