#include "verify/local_order.hpp"

#include "program/cursor.hpp"

#include <algorithm>

namespace kumihimo::verify {
namespace {

constexpr std::int64_t most_kept = 1 << 24;

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
      const Scratch& scratch = program.scratch[step.target.buffer.index];
      if (!scratch.shared || scratch.named) continue;
      const std::int64_t window = scratch_window(program, scratch, segments);
      slots = slots == 0 ? window : std::min(slots, window);
    }
  });
  return slots;
}

} // namespace

std::vector<std::vector<Wait>> waits_of(const Program& program, Segments segments) {
  std::vector<std::vector<Wait>> waits(program.lanes.size());
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

LocalOrder::LocalOrder(const std::vector<std::int64_t>& windows, const std::vector<std::vector<Wait>>& waits,
                       std::int64_t segments)
    : lanes_(static_cast<std::int64_t>(windows.size())), segments_(segments),
      kept_(std::min(segments, std::max<std::int64_t>(most_kept / std::max<std::int64_t>(lanes_ * lanes_, 1), 64))),
      complete_(static_cast<std::size_t>(lanes_ * lanes_ * kept_), 0) {
  // What holds when segment s begins holds when a later one begins, and what holds when a segment begins holds when it
  // is complete. Lanes are begun in any order that the waits allow.
  std::vector<std::int64_t> begun(windows.size(), 0);
  const auto row = [&](std::int64_t lane, std::int64_t s) { return &complete_[(lane * kept_ + s) * lanes_]; };
  const auto ready = [&](std::int64_t l) {
    for (const Wait& w : waits[l])
      if (begun[w.lane] < (w.all ? kept_ : std::min(begun[l] - w.behind + 1, kept_))) return false;
    return true;
  };
  const auto learn = [&](std::int32_t* mine, std::int64_t other, std::int64_t s) { // segment s of `other` is complete
    if (s < 0) return;
    const std::int32_t* known = row(other, s);
    for (std::int64_t i = 0; i < lanes_; ++i) mine[i] = std::max(mine[i], known[i]);
    mine[other] = std::max(mine[other], static_cast<std::int32_t>(s + 1));
  };
  const auto begin = [&](std::int64_t l) {
    const std::int64_t s = begun[l]++;
    std::int32_t* mine = row(l, s);
    if (s > 0) std::copy_n(row(l, s - 1), lanes_, mine);
    learn(mine, l, s - windows[l]);
    for (const Wait& w : waits[l]) {
      if (!w.all) {
        learn(mine, w.lane, s - w.behind);
        continue;
      }
      learn(mine, w.lane, kept_ - 1);
    }
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::int64_t l = 0; l < lanes_; ++l)
      while (begun[l] < kept_ && ready(l)) begin(l), moved = true;
  }
}

} // namespace kumihimo::verify
