// bucket, rotated_rings: allgather and reduce-scatter as rings along one axis of the torus after the other.
//
// Idea: phase 1 hands each rank's block round a ring along the first axis, phase 2 whole lines of blocks along the
//   second, phase 3 whole planes along the third. Only neighbours exchange. A reduce-scatter goes the same way back:
//   sums of whole planes are handed round first, each beginning next to where it ends, then of lines, then of blocks.
//   rotated_rings cuts each block in 2n parts and runs 2n of them at once, axis orders rotated, in both directions, so
//   that all links carry data. On three axes with trees=4 these are the K computer's four, (+x,+y,+z), (+y,+z,+x),
//   (+z,+x,+y), (-x,-y,-z), one per engine.
// Wins: long blocks on a torus: (sum of lengths) steps instead of P, and as many links at a time as there are lanes.
// Special cases: axes of length 1 are dropped; both directions only if every axis is a ring of 3 or more, n lanes
//   otherwise; not applicable on a mesh axis, nor where ranks are not numbered in the shape's order.
// Reference: systematised from the K computer's MPI (Adachi et al., 2012); Jain, Sabharwal, ICS 2010.
#include "collectives/patterns/blocks.hpp"
#include "collectives/patterns/ring_axes.hpp"
#include "collectives/registry.hpp"

#include <fmt/format.h>

namespace kumihimo {
namespace {

// Extent of the blocks of all places that differ from `first` along the given axes alone: the runs of axes that lie
// beside each other in the numbering are one.
Extent slab(Layout layout, const Shape& shape, Expression first, std::vector<std::int32_t> axes) {
  std::sort(axes.begin(), axes.end(), std::greater<>()); // the fastest first
  std::vector<Repeat> runs;
  for (const std::int32_t a : axes) {
    if (!runs.empty() && runs.back().stride * runs.back().runs == shape.stride(a))
      runs.back().runs *= shape.length(a);
    else
      runs.push_back({shape.stride(a), shape.length(a)});
  }
  Extent e = blocks(layout, std::move(first));
  std::size_t at = 0;
  if (!runs.empty() && runs[0].stride == 1) e.runs[0].count = runs[at++].runs;
  if (at < runs.size()) e.runs[0].inner = runs[at++];
  if (at < runs.size()) e.runs[0].outer = runs[at++];
  return e;
}

// One lane of a rank: its share of each block goes round the axes from `index` on, in one direction.
struct RingDirection {
  const RingPlan& plan;
  std::int64_t index, rank;

  std::int64_t phases() const { return static_cast<std::int64_t>(plan.axes.size()); }
  std::int64_t step() const { return index < phases() ? 1 : -1; }
  std::int32_t axis(std::int64_t phase) const {
    return plan.axes[static_cast<std::size_t>((index + phase) % phases())];
  }
  std::int64_t length(std::int64_t phase) const { return plan.space.shape().length(axis(phase)); }
  // The rank that is `places` further along the axis.
  std::int64_t neighbour(std::int64_t phase, std::int64_t places) const {
    return plan.space.shape().shifted(rank, axis(phase), static_cast<std::int32_t>(step() * places));
  }
  Extent share_of(Extent e) const {
    e.parts = plan.lanes;
    e.part = index;
    return e;
  }
  // Extent that the phases before this one bring together, for the place `back` places back on this one's axis.
  Extent gathered(Layout layout, std::int64_t phase, const Expression& back) const {
    const Shape& shape = plan.space.shape();
    std::vector<std::int32_t> done;
    std::int64_t corner = rank;
    for (std::int64_t j = 0; j < phase; ++j) {
      done.push_back(axis(j));
      corner -= shape.coordinate(rank, axis(j)) * shape.stride(axis(j));
    }
    const std::int64_t x = shape.coordinate(rank, axis(phase)), stride = shape.stride(axis(phase));
    return share_of(
        slab(layout, shape, mod(x - step() * back, length(phase)) * stride + (corner - x * stride), std::move(done)));
  }
};

void write_allgather(LaneBuilder& lane, const RingDirection& way, const Collective& c) {
  if (!c.aliased(Rank{static_cast<std::int32_t>(way.rank)}))
    lane.step(copy(out[way.share_of(out_block(way.rank))], in[way.share_of(in_block(way.rank))]));
  for (std::int64_t j = 0; j < way.phases(); ++j) {
    const auto from = [&](const Expression& i) { return out[way.gathered(Layout::output_blocks, j, i)]; };
    lane.loop(way.length(j) - 1, [&](Variable i) {
      return exchange(way.neighbour(j, 1), from(i), way.neighbour(j, -1), into(from(i + 1)));
    });
  }
}

void write_reduce_scatter(LaneBuilder& lane, const RingDirection& way, const Array& sums, Chunk result) {
  for (std::int64_t j = way.phases() - 1; j >= 0; --j) {
    const bool first = j == way.phases() - 1;
    const Array& operand = first ? in : sums; // what this rank adds to
    const auto of = [&](const Array& array, const Expression& i) {
      return array[way.gathered(Layout::input_blocks, j, i)];
    };
    const auto round = [&](const Array& sent, const Expression& i) {
      return exchange(way.neighbour(j, 1), of(sent, i + 1), way.neighbour(j, -1),
                      receive_reduce(-1, of(operand, i + 2), of(sums, i + 2), Arriving::left));
    };
    lane.round(round(operand, 0));
    lane.loop(way.length(j) - 2, [&](Variable i) { return round(sums, i + 1); });
  }
  lane.step(copy(std::move(result), sums[way.share_of(in_block(way.rank))]));
}

Program program_of(const RingPlan& plan, const Collective& c, std::int64_t r) {
  ProgramBuilder program(plan.segments);
  Array sums, result;
  // In place the result of irregular blocks lies over others' input, which other lanes may still read.
  const bool scatters = c.kind == CollectiveKind::reduce_scatter,
             aside = scatters && c.in_place && c.counts.irregular();
  if (scatters) {
    sums = program.scratch(Scratch{LaneId{0}, true, Layout::input_blocks, 1, c.ranks, 1, true, 0});
    result = own_sum(program, aside, r, static_cast<std::int32_t>(plan.lanes));
  }
  for (std::int64_t l = 0; l < plan.lanes; ++l) {
    const RingDirection way{plan, l, r};
    LaneBuilder lane(LaneId{static_cast<std::int32_t>(l)}, fmt::format("rings, rotation {}", l), plan.window);
    if (scatters)
      write_reduce_scatter(lane, way, sums, result[way.share_of(aside ? in_block(r) : out_block(r))]);
    else
      write_allgather(lane, way, c);
    program.add(std::move(lane));
  }
  return program.finish();
}

struct BucketOfBlocksRecipe {
  bool rotated;

  Result<Schedule> operator()(const Collective& c, const RankSpace& space, const Parameters& p) const {
    const RingAxes rings = TRY(ring_axes(space, RankOrder::row_major));
    RingPlan plan{space, rings.axes, 1, {}, p.window.value()};
    if (rotated) plan.lanes = TRY(rotated_lanes(rings, space, p));
    plan.segments = TRY(choose_segments(c, p, plan.lanes, Pipelining::whole_message));
    Schedule s(c);
    s.segments = plan.segments;
    s.parameters = fmt::format("lanes={} segments={} window={}", plan.lanes, plan.segments.count, plan.window);
    s.claims.neighbours_only = true;
    s.claims.in_place_safe = c.kind == CollectiveKind::allgather || c.in_place || !c.counts.irregular();
    s.program = [plan, c](Rank rank) { return program_of(plan, c, rank.value); };
    return s;
  }
};

Variant bucket_of_blocks_row(std::string summary, Cost cost, bool rotated) {
  Variant v{.summary = std::move(summary),
            .cost = std::move(cost),
            .reference = "K computer's MPI; Jain, Sabharwal, ICS 2010",
            .parameters = segment_parameters(),
            .recipe = BucketOfBlocksRecipe{rotated}};
  if (rotated) v.parameters.push_back({parameter::trees, DerivedDefault{"2 x dimensions"}});
  return v;
}

Variant bucket(Formula time) {
  return bucket_of_blocks_row("rings along one axis of the torus after the other",
                              {std::move(time), cost::whole_messages}, false);
}
Variant rotated_rings(Formula time, Condition where) {
  return bucket_of_blocks_row("2d buckets at once, axis orders rotated, on all links of a torus",
                              {std::move(time), std::move(where)}, true);
}

} // namespace

Variant allgather_bucket::row() {
  using namespace cost;
  return bucket(sum_of_lengths * alpha + (P - 1) * n * beta);
}
Variant allgather_rotated_rings::row() {
  using namespace cost;
  return rotated_rings(sum_of_lengths * alpha + (P - 1) * n / lanes * beta, whole_messages);
}
Variant reduce_scatter_bucket::row() {
  using namespace cost;
  return bucket(sum_of_lengths * alpha + (P - 1) * n * beta + (P - 1) * n * gamma);
}
Variant reduce_scatter_rotated_rings::row() {
  using namespace cost;
  return rotated_rings(sum_of_lengths * alpha + (P - 1) * n / lanes * beta + (P - 1) * n * gamma,
                       whole_messages && equal_axes);
}

} // namespace kumihimo
