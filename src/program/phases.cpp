#include "program/phases.hpp"

namespace kumihimo {

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

std::vector<std::int32_t> phases(std::size_t lanes, std::span<const LaneWait> waits) {
  std::vector<std::int32_t> phase(lanes, 0);
  bool changed = true;
  for (std::size_t turn = 0; changed && turn <= lanes; ++turn) {
    changed = false;
    for (const LaneWait& w : waits) {
      const std::int32_t least = phase[w.on] + (w.scope == Scope::all);
      if (phase[w.lane] < least) phase[w.lane] = least, changed = true;
    }
  }
  return phase;
}

} // namespace kumihimo
