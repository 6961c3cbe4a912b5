#include "simulate/offload.hpp"

#include "program/binding.hpp"
#include "program/cursor.hpp"
#include "simulate/program_errors.hpp"

#include <algorithm>

namespace kumihimo::simulation {
namespace {

struct Offloads {
  bool any = false;
  bool alike = true; // as long in every segment
};

void find(const Body& body, const ProgramSet& schedule, Offloads& found) {
  for (const Node& node : body) {
    if (const Loop* loop = std::get_if<Loop>(&node)) {
      find(loop->body, schedule, found);
      continue;
    }
    for (const Step& step : std::get<Round>(node).steps) {
      if (step.kind != StepKind::offload) continue;
      found.any = true;
      if (step.has_data()) found.alike &= same_in_all_segments(step.extent(), *schedule.data, schedule.segments.count);
    }
  }
}

} // namespace

std::optional<std::int64_t> largest_offload(const ProgramSet& schedule, Rank rank, const Program& program) {
  std::optional<std::int64_t> largest;
  const Binding binding(schedule, rank);
  for (const Lane& lane : program.lanes) {
    Offloads found;
    find(lane.body, schedule, found);
    if (!found.any) continue;
    const std::int64_t segments = found.alike ? 1 : schedule.segments.count;
    for (std::int64_t segment = 0; segment < segments; ++segment)
      for_each_round(lane, segment, [&](const Round& round, Values values) {
        for (const Step& step : round.steps)
          if (step.kind == StepKind::offload)
            largest = std::max(largest.value_or(0), binding.length(step.extent(), values));
      });
  }
  if (largest) *largest *= schedule.data->type_bytes;
  return largest;
}

} // namespace kumihimo::simulation
