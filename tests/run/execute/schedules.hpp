// Small schedules written by hand, for tests of the engine alone.
#pragma once

#include "program/builder.hpp"
#include "schedule/schedule.hpp"

namespace kumihimo::testing {

inline Schedule schedule_of(const Collective& collective, std::int64_t segments,
                            std::function<void(ProgramBuilder&, Rank)> write) {
  Schedule s(collective);
  s.algorithm = "by_hand";
  s.segments = {segments};
  s.program = [segments, write](Rank rank) {
    ProgramBuilder program(Segments{segments});
    write(program, rank);
    return program.finish();
  };
  return s;
}

// Reduce-scatter and allgather on a ring.
inline Schedule ring(const Collective& c, std::int64_t segments, std::int64_t window) {
  return schedule_of(c, segments, [c, window](ProgramBuilder& program, Rank rank) {
    const std::int64_t p = c.ranks, r = rank.value;
    const auto block = [p](Expression i) { return part(mod(std::move(i), p), p); };
    const Expression right = floor_mod(r + 1, p), left = floor_mod(r - 1, p);
    LaneBuilder lane(LaneId{0}, "ring", window);
    if (p == 1) lane.step(copy(out[whole()], in[whole()]));
    lane.loop(p - 1,
              [&](Variable i) { return exchange(right, acc[block(r - i)], left, reduce_into(acc[block(r - i - 1)])); });
    lane.loop(p - 1, [&](Variable i) { return exchange(right, out[block(r + 1 - i)], left, into(out[block(r - i)])); });
    program.add(std::move(lane));
  });
}

// Reduction along the chain P-1 ... 0 on lane 0, broadcast back on lane 1 after it.
inline Schedule chain_allreduce(const Collective& c, std::int64_t segments, std::int64_t window, Scope scope) {
  return schedule_of(c, segments, [c, window, scope](ProgramBuilder& program, Rank rank) {
    const std::int32_t p = c.ranks, r = rank.value;
    LaneBuilder up(LaneId{0}, "reduce", window), down(LaneId{1}, "broadcast", window);
    if (r + 1 < p)
      up.step(receive_reduce(r + 1, in[whole()], out[whole()]));
    else
      up.step(copy(out[whole()], in[whole()]));
    if (r > 0) up.step(send(r - 1, out[whole()]));
    down.after({LaneId{0}}, scope);
    if (r > 0) down.step(receive(r - 1, out[whole()]));
    if (r + 1 < p) down.step(send(r + 1, out[whole()]));
    program.add(std::move(up));
    program.add(std::move(down));
  });
}

// Every rank to every rank, itself included, `in_flight` peers at a time.
inline Schedule alltoall(const Collective& c, std::int64_t in_flight) {
  return schedule_of(c, 1, [c, in_flight](ProgramBuilder& program, Rank rank) {
    const std::int64_t p = c.ranks, r = rank.value;
    LaneBuilder lane(LaneId{0}, "pairs", 1);
    lane.loop(
        p,
        [&](Variable i) {
          const Expression to = mod(r + i, p), from = mod(r - i, p);
          return exchange(to, in[blocks(Layout::input_blocks, to)], from,
                          into(out[blocks(Layout::output_blocks, from)]));
        },
        in_flight);
    program.add(std::move(lane));
  });
}

} // namespace kumihimo::testing
