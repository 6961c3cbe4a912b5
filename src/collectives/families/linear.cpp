// linear: broadcast, reduce and allreduce, in which the root sends to, or receives from, every other rank itself.
//
// Idea: no relays at all; the root works through the ranks in order, as a loop whose peer is an
//   expression.
// Wins: two or three ranks, and as the plain yardstick; its root costs (P - 1) n beta.
// Special cases: any number of ranks. A reduce takes the operands in rank order whatever the root, so that
//   it fits every operation; a root other than 0 keeps the sum of those before it in scratch until its own
//   input joins, since input and output may be one memory.
// Reference: folklore; Open MPI's coll/basic does the same.
#include "collectives/patterns/trees/tree.hpp"
#include "program/builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {
namespace {

constexpr std::int64_t sends_in_flight = 8; // enough to keep the engines of any node busy

struct Star {
  std::int32_t ranks;
  Rank root;
  Segments segments;
  std::int64_t window;
};

LaneBuilder star_reduce_lane(const Star& q, Rank rank, LaneId id, ProgramBuilder& program) {
  LaneBuilder lane(id, "reduce", q.window);
  const std::int32_t root = q.root.value, P = q.ranks;
  if (rank != q.root) {
    lane.step(send(root, in[whole()]));
    return lane;
  }
  const auto ranks_from = [&](std::int64_t first, std::int64_t count, Chunk sum) {
    lane.loop(count, [&](Variable i) { return Round{{receive_reduce(i + first, sum)}, 0}; });
  };
  if (root == 0) {
    lane.step(receive_reduce(1, in[whole()], out[whole()]));
    ranks_from(2, P - 2, out[whole()]);
    return lane;
  }
  const Chunk before = program.scratch(id, 1, 1)[whole()];
  lane.step(receive(0, before));
  ranks_from(1, root - 1, before);
  lane.step(reduce(out[whole()], before, in[whole()]));
  ranks_from(root + 1, P - 1 - root, out[whole()]);
  return lane;
}

LaneBuilder star_bcast_lane(const Star& q, Rank rank, LaneId id) {
  LaneBuilder lane(id, "broadcast", q.window);
  if (rank != q.root) {
    lane.step(receive(q.root.value, out[whole()]));
    return lane;
  }
  lane.loop(
      q.ranks - 1,
      [&](Variable i) {
        return Round{{send(mod(i + (q.root.value + 1), q.ranks), out[whole()])}, 0};
      },
      std::min<std::int64_t>(sends_in_flight, q.ranks - 1));
  return lane;
}

Result<Schedule> star_recipe(const Collective& c, const RankSpace&, const Parameters& p) {
  const Segments segments = TRY(choose_segments(c, p, 1, Pipelining::whole_message));
  const bool all = c.kind == CollectiveKind::allreduce;
  const Star shared{c.ranks, all ? Rank{0} : c.root, segments, p.window.value()};
  Schedule s(c);
  s.segments = segments;
  s.parameters = fmt::format("segments={} window={}", segments.count, shared.window);
  s.claims.keeps_rank_order = true;
  s.claims.height = 1;
  s.program = [shared, kind = c.kind](Rank rank) {
    ProgramBuilder program(shared.segments);
    const LaneId reduce_id{0}, bcast_id{kind == CollectiveKind::bcast ? 0 : 1};
    if (kind != CollectiveKind::bcast) program.add(star_reduce_lane(shared, rank, reduce_id, program));
    if (kind != CollectiveKind::reduce) {
      LaneBuilder lane = star_bcast_lane(shared, rank, bcast_id);
      if (kind == CollectiveKind::allreduce) lane.after({reduce_id}, Scope::segment);
      program.add(std::move(lane));
    }
    return program.finish();
  };
  return s;
}

Variant star_row(Formula time) {
  return {.summary = "the root exchanges messages with every other rank directly",
          .cost = {std::move(time), cost::whole_messages},
          .reference = "folklore",
          .parameters = {{parameter::segment_bytes, DerivedDefault{"the whole message"}}, {parameter::window, 4}},
          .rounding = by_rank_numbers,
          .recipe = star_recipe};
}

} // namespace

Variant bcast_linear::row() {
  using namespace cost;
  return star_row((P - 1) * (alpha + n * beta));
}
Variant reduce_linear::row() {
  using namespace cost;
  return star_row((P - 1) * (alpha + n * beta + n * gamma));
}
Variant allreduce_linear::row() {
  using namespace cost;
  return star_row((P - 1) * (2 * alpha + 2 * n * beta + n * gamma));
}

} // namespace kumihimo
