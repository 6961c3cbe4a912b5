// bucket, rotated_rings: allreduce as rings along one axis of the torus after the other.
//
// Idea: reduce-scatter along axis 0 (all rows at once), then each row's share along axis 1, and so on;
//   allgather the same way back. Only neighbours exchange. rotated_rings runs 2n of them at once on 2n
//   shares of the vector: axis orders rotated, in both directions, so that in every phase all links of the
//   torus carry data.
// Wins: long messages on a torus: (sum of lengths) steps instead of P, and rotated_rings 2n links at a
//   time.
// Special cases: axes of length 1 are dropped; both directions only if every axis is a ring of 3 or more,
//   n lanes otherwise; on a mesh axis the last rank's message to the first crosses the axis, so that it is
//   not applicable there.
// Reference: Barnett, Littlefield, Payne, van de Geijn, Global combine on mesh architectures with wormhole
//   routing, IPPS 1993; Jain, Sabharwal, Optimal bucket algorithms for large MPI collectives on torus
//   interconnects, ICS 2010.
#include "collectives/patterns/blocks.hpp"
#include "collectives/patterns/ring_axes.hpp"
#include "collectives/registry.hpp"
#include "program/builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {
namespace {

// One ring of a lane: what its rank holds before it, as part `prefix` of `cut`, is cut in `length` blocks.
struct Ring {
  std::int64_t prefix, cut, length, x; // x: our position along the lane's direction
  std::int64_t next, previous;         // ranks

  Extent block(Expression b) const { return part(prefix * length + mod(std::move(b), length), cut * length); }
};

LaneBuilder lane_of(const RingPlan& plan, std::int64_t lane_index, Rank rank) {
  const auto n = static_cast<std::int64_t>(plan.axes.size());
  const bool backwards = lane_index >= n;
  const Shape& shape = plan.space.shape();
  const std::int32_t place = plan.space.place(rank);
  LaneBuilder lane(LaneId{static_cast<std::int32_t>(lane_index)}, fmt::format("rings, rotation {}", lane_index),
                   plan.window);

  std::vector<Ring> rings;
  std::int64_t prefix = lane_index, cut = plan.lanes;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int32_t axis = plan.axes[(lane_index + j) % n], step = backwards ? -1 : 1;
    const std::int64_t length = shape.length(axis);
    const std::int64_t x = floor_mod(step * shape.coordinate(place, axis), length);
    rings.push_back({prefix, cut, length, x, plan.space.rank_at(shape.shifted(place, axis, step)).value,
                     plan.space.rank_at(shape.shifted(place, axis, -step)).value});
    prefix = prefix * length + (x + 1) % length; // the block that this ring leaves here
    cut *= length;
  }
  for (const Ring& g : rings)
    lane.loop(g.length - 1, [&](Variable i) {
      return exchange(g.next, acc[g.block(g.x - i)], g.previous, reduce_into(acc[g.block(g.x - 1 - i)]));
    });
  for (auto g = rings.rbegin(); g != rings.rend(); ++g)
    lane.loop(g->length - 1, [&](Variable i) {
      return exchange(g->next, out[g->block(g->x + 1 - i)], g->previous, into(out[g->block(g->x - i)]));
    });
  return lane;
}

struct BucketRecipe {
  bool rotated;

  Result<Schedule> operator()(const Collective& c, const RankSpace& space, const Parameters& p) const {
    const RingAxes rings = TRY(ring_axes(space, RankOrder::any));
    RingPlan plan{space, rings.axes, 1, {}, p.window.value()};
    if (rotated) plan.lanes = TRY(rotated_lanes(rings, space, p));
    std::int64_t shortest = space.shape().length(rings.axes[0]); // a lane's first ring has the largest blocks
    for (std::size_t a = 1; rotated && a < rings.axes.size(); ++a)
      shortest = std::min<std::int64_t>(shortest, space.shape().length(rings.axes[a]));
    plan.segments = TRY(choose_segments(c, p, plan.lanes * shortest, Pipelining::whole_message));
    Schedule s(c);
    s.segments = plan.segments;
    s.parameters = fmt::format("lanes={} segments={} window={}", plan.lanes, plan.segments.count, plan.window);
    s.claims.neighbours_only = true;
    s.program = [plan](Rank rank) {
      ProgramBuilder program(plan.segments);
      for (std::int64_t l = 0; l < plan.lanes; ++l) program.add(lane_of(plan, l, rank));
      return program.finish();
    };
    return s;
  }
};

Variant bucket_row(std::string summary, Cost cost, bool rotated) {
  Variant v{.summary = std::move(summary),
            .cost = std::move(cost),
            .reference = "Barnett et al., IPPS 1993; Jain, Sabharwal, ICS 2010",
            .parameters = segment_parameters("one block"),
            .extension = true,
            .recipe = BucketRecipe{rotated}};
  if (rotated) v.parameters.push_back({parameter::trees, DerivedDefault{"2 x dimensions"}});
  return v;
}

} // namespace

Variant allreduce_bucket::row() {
  using namespace cost;
  return bucket_row("rings along one axis of the torus after the other",
                    {2 * sum_of_lengths * alpha + 2 * (1 - 1 / P) * n * beta + (1 - 1 / P) * n * gamma, whole_messages},
                    false);
}
Variant allreduce_rotated_rings::row() {
  using namespace cost;
  return bucket_row("2d buckets at once, axis orders rotated, on all links of a torus",
                    {2 * sum_of_lengths * alpha + 2 * (1 - 1 / P) * n / lanes * beta + (1 - 1 / P) * n * gamma,
                     whole_messages && equal_axes},
                    true);
}

} // namespace kumihimo
