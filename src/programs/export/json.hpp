// One rank's program as JSON, as it is written: loops are not expanded, expressions are texts over the variables s (the
// segment), i, j, k ... of the enclosing loops.
#pragma once

#include "base/result.hpp"
#include "schedule/schedule.hpp"

#include <string>

namespace kumihimo {

// An object: collective, ranks, root, in_place, count, type, operation, algorithm, parameters, segments, claims, rank,
// scratch, lanes. A lane's body is a list of rounds {"steps": [...]}, loops {"trip", "in_flight", "body"}
// and {"together": [...]}, rounds and loops that start together. A scratch
// buffer: lane, shared, layout (vector, input_blocks, output_blocks, or declared0 ... for layouts that the program set
// declares), named, parts, units, cells, and if named first.
std::string program_json(const Schedule& schedule, Rank rank);

// JSON of programs that are no collective: programs (their name), ranks, type, segments, rank, scratch, lanes.
std::string program_json(const ProgramSet& set, const std::string& name, Rank rank);

// The materialised steps of all ranks of a small case, as JSON in the form "kumihimo-expanded-schedule-2": a dump that
// a checker can execute without knowing the code that made it.
//
//   form, collective, ranks, root, in_place, algorithm, count
//   sources, of a collective of neighbours: of each rank and each block of its output the rank that it comes from (-1:
//   none, and the block stays as it is), which of that rank's blocks it is, and its count
//   programs: one list of lanes per rank; a lane: lane, window, after [{lanes, scope}], segments
//   segments[s]: rounds and loops in program order
//   round: steps, which start together; gap_bytes, where each message of the round keeps its queue idle afterwards
//   loop: in_flight, iterations; iteration i starts once all up to i - in_flight are complete, and is a list of rounds
//   and loops. Loops of one iteration at a time are written as the rounds of all iterations
//   together: lists of rounds and loops, which start together; what follows starts once all are complete
//   step: kind, peer, source, target, left, right; chunks are [buffer, [[first, count], ...]] in elements, scratch
//   offsets absolute; the arriving operand of receive_reduce is the word "arriving"; an offload is over once all ranks
//   that have its lane have come, and one without source and target is nothing else
//
// Error: more steps than `most_steps` (the form is for small cases).
Result<std::string> expanded_json(const Schedule& schedule, std::int64_t most_steps = 4'000'000);

// JSON of programs that are no collective, in the form "kumihimo-expanded-programs-1": form, programs_name, ranks,
// one_buffer (input and output are one), elements (of input and output of each rank), programs (as of a schedule).
Result<std::string> expanded_json(const ProgramSet& set, const std::string& name, std::int64_t most_steps = 4'000'000);

} // namespace kumihimo
