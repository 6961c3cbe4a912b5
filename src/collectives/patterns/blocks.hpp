// Shared parts of algorithms over arrays of blocks: names of blocks and ranges of them, and the copy of a rank's own
// block.
#pragma once

#include "collectives/registry.hpp"
#include "program/builder.hpp"

#include <algorithm>

namespace kumihimo {

inline Extent in_block(Expression b) { return blocks(Layout::input_blocks, std::move(b)); }
inline Extent out_block(Expression b) { return blocks(Layout::output_blocks, std::move(b)); }

// Blocks [first, first + count) of `ranks`, round the end of the array: two run lists where it is passed.
inline Extent cyclic_blocks(Layout layout, std::int64_t first, std::int64_t count, std::int64_t ranks) {
  const std::int64_t straight = std::min(count, ranks - first);
  Extent e = blocks(layout, first, straight);
  if (count > straight) e.runs.push_back({0, count - straight, {}, {}});
  return e;
}

// Rank r's own block where it belongs; nothing where input and output are one memory.
inline void place_own_block(LaneBuilder& lane, const Collective& c, std::int64_t r) {
  if (!c.aliased(Rank{static_cast<std::int32_t>(r)})) lane.step(copy(out[out_block(r)], in[in_block(r)]));
}

// Where a rank of a reduce-scatter puts the sum of its own block, named as one of the input: the output; or aside,
// where the output lies over blocks of the input that are still to be sent, and a lane that waits for all `lanes`
// copies it.
inline Array own_sum(ProgramBuilder& program, bool over_others, std::int64_t r, std::int32_t lanes = 1) {
  if (!over_others) return out;
  const Array aside = program.scratch(Scratch{LaneId{0}, true, Layout::input_blocks, 1, 1, 1, true, r});
  LaneBuilder last(LaneId{lanes}, "result", 1);
  std::vector<LaneId> all;
  for (std::int32_t l = 0; l < lanes; ++l) all.emplace_back(l);
  last.after(std::move(all), Scope::all);
  last.step(copy(out[out_block(r)], aside[in_block(r)]));
  program.add(std::move(last));
  return aside;
}

// A schedule of one lane, whose rounds `body(program, lane, rank)` writes. Unsegmented unless segments are asked for.
template <class F>
Result<Schedule> one_lane(const Collective& c, const Parameters& p, std::string role, F body) {
  const Segments segments = TRY(choose_segments(c, p, 1, Pipelining::whole_message));
  Schedule s(c);
  s.segments = segments;
  const std::int64_t window = p.window.value_or(1); // of algorithms that take none there is one segment
  if (segments.count > 1)
    s.parameters = "segments=" + std::to_string(segments.count) + " window=" + std::to_string(window);
  s.program = [segments, window, role = std::move(role), body = std::move(body)](Rank r) {
    ProgramBuilder program(segments);
    LaneBuilder lane(LaneId{0}, role, window);
    body(program, lane, std::int64_t{r.value});
    program.add(std::move(lane));
    return program.finish();
  };
  return s;
}

// The recipe of such a schedule, whose rounds `write([program,] lane, collective, rank)` writes.
template <class Write>
auto one_lane(
    std::string role, Write write, void (*claim)(Schedule&) = [](Schedule&) {}) {
  return [=](const Collective& c, const RankSpace&, const Parameters& p) {
    Result<Schedule> s = one_lane(c, p, role, [=](ProgramBuilder& program, LaneBuilder& lane, std::int64_t r) {
      if constexpr (std::invocable<Write, LaneBuilder&, const Collective&, std::int64_t>)
        write(lane, c, r);
      else
        write(program, lane, c, r);
    });
    if (s) claim(*s);
    return s;
  };
}

inline void in_rank_order(Schedule& s) { s.claims.keeps_rank_order = true; }

inline std::vector<Variant::Parameter> segment_parameters(std::string segment = "the whole block") {
  return {{parameter::segment_bytes, DerivedDefault{std::move(segment)}}, {parameter::window, 2}};
}

} // namespace kumihimo
