#include "simulate/offload.hpp"

#include "program/binding.hpp"
#include "program/cursor.hpp"

#include <algorithm>

namespace kumihimo::simulation {
namespace {

struct Offloads {
  bool any = false;
  bool alike = true; // as long in every segment
};

// Whether all segments of the extent have as many elements.
bool divides(const DataLayout& data, const Extent& extent, std::int64_t segments) {
  const bool vector = extent.layout == Layout::vector;
  if (!vector && !data.layout(extent.layout).uniform()) return false;
  return (vector ? data.elements : data.layout(extent.layout).each) % (extent.parts * segments) == 0;
}

void find(const Body& body, const ProgramSet& schedule, Offloads& found) {
  for (const Node& node : body) {
    if (const Loop* loop = std::get_if<Loop>(&node)) {
      find(loop->body, schedule, found);
      continue;
    }
    for (const Step& step : std::get<Round>(node).steps) {
      if (step.kind != StepKind::offload) continue;
      found.any = true;
      if (step.has_data()) found.alike &= divides(*schedule.data, step.extent(), schedule.segments.count);
      for (const RunList& list : step.extent().runs) found.alike &= !list.count.depends_on(Variable{0});
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
