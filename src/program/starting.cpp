#include "program/starting.hpp"

#include "program/binding.hpp"
#include "program/cursor.hpp"

#include <algorithm>

namespace kumihimo {
namespace {

std::int32_t index_of(const Program& program, LaneId id) {
  for (std::size_t l = 0; l < program.lanes.size(); ++l)
    if (program.lanes[l].id == id) return static_cast<std::int32_t>(l);
  return -1;
}

// The fewest slots of any shared scratch that the lane writes; 0 if it writes none.
std::int64_t shared_slots_written(const Program& program, const Lane& lane, Segments segments) {
  std::int64_t slots = 0;
  for_each_round_as_written(lane, segments, [&](const Round& round, Values) {
    for (const Step& step : round.steps) {
      if (step.target.buffer.kind != Buffer::Kind::scratch) continue;
      const auto index = static_cast<std::size_t>(step.target.buffer.index);
      if (index >= program.scratch.size()) continue; // a program that is wrong
      const Scratch& scratch = program.scratch[index];
      if (!scratch.shared || scratch.named) continue;
      const std::int64_t window = scratch_window(program, scratch, segments);
      slots = slots == 0 ? window : std::min(slots, window);
    }
  });
  return slots;
}

} // namespace

std::vector<std::vector<SegmentWait>> waits_of(const Program& program, Segments segments) {
  std::vector<std::vector<SegmentWait>> waits(program.lanes.size());
  for (std::size_t l = 0; l < program.lanes.size(); ++l)
    for (const After& after : program.lanes[l].after)
      for (LaneId id : after.lanes)
        if (const std::int32_t other = index_of(program, id); other >= 0)
          waits[l].push_back({other, 0, after.scope == Scope::all});
  for (std::size_t l = 0; l < program.lanes.size(); ++l) {
    const std::int64_t slots = shared_slots_written(program, program.lanes[l], segments);
    if (slots == 0) continue;
    for (std::size_t reader = 0; reader < program.lanes.size(); ++reader)
      for (const After& after : program.lanes[reader].after)
        if (std::count(after.lanes.begin(), after.lanes.end(), program.lanes[l].id))
          waits[l].push_back({static_cast<std::int32_t>(reader), slots, false});
  }
  return waits;
}

} // namespace kumihimo
