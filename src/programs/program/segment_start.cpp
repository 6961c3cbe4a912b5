#include "program/segment_start.hpp"

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

std::vector<LaneWait> lane_waits(const Program& program) {
  std::vector<LaneWait> waits;
  const auto lanes = static_cast<std::int32_t>(program.lanes.size());
  for (std::int32_t lane = 0; lane < lanes; ++lane)
    for (const After& after : program.lanes[lane].after)
      for (const LaneId id : after.lanes)
        for (std::int32_t on = 0; on < lanes; ++on)
          if (program.lanes[on].id == id) waits.push_back({lane, on, after.scope});
  return waits;
}

LanePhases phases(std::size_t lanes, std::span<const LaneWait> waits) {
  std::vector<std::int32_t> phase(lanes, 0);
  bool changed = true;
  for (std::size_t turn = 0; changed && turn <= lanes; ++turn) {
    changed = false;
    for (const LaneWait& w : waits) {
      const std::int32_t least = phase[w.on] + (w.scope == Scope::all);
      if (phase[w.lane] < least) phase[w.lane] = least, changed = true;
    }
  }
  return {std::move(phase), changed};
}

} // namespace kumihimo
