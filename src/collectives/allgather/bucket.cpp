// bucket, rotated_rings: allgather as rings along one axis of the torus after the other.
//
// Idea: phase 1 hands each rank's block round a ring along the first axis, phase 2 whole lines of blocks along the
//   second, phase 3 whole planes along the third. Only neighbours exchange. rotated_rings cuts each block in 2n parts
//   and runs 2n of them at once, axis orders rotated, in both directions, so that all links carry data. On three axes
//   with trees=4 these are the K computer's four, (+x,+y,+z), (+y,+z,+x), (+z,+x,+y), (-x,-y,-z), one per engine.
// Wins: long blocks on a torus: (sum of lengths) steps instead of P, and as many links at a time as there are lanes.
// Cost: sum(L - 1) alpha + (P - 1) n beta, divided by the lanes; never below (P - 1) n / (lanes B).
// Special cases: axes of length 1 are dropped; both directions only if every axis is a ring of 3 or more, n lanes
//   otherwise; not applicable on a mesh axis, nor where ranks are not numbered in the shape's order.
// Reference: systematised from the K computer's MPI (Adachi et al., 2012); Jain, Sabharwal, ICS 2010.
#include "collectives/blocks.hpp"

#include <fmt/format.h>

namespace kumihimo {
namespace {

struct Torus {
  RankSpace space;
  std::vector<std::int32_t> axes; // those longer than 1
  std::int64_t lanes = 1;
  Segments segments;
  std::int64_t window = 2;
};

// Part `part` of `parts` of the blocks of all places that differ from `first` along the given axes alone: the runs of
// axes that lie beside each other in the numbering are one.
Extent slab(const Shape& shape, Expression first, std::vector<std::int32_t> axes, std::int64_t part,
            std::int64_t parts) {
  std::sort(axes.begin(), axes.end(), std::greater<>()); // the fastest first
  std::vector<Repeat> runs;
  for (const std::int32_t a : axes) {
    if (!runs.empty() && runs.back().stride * runs.back().runs == shape.stride(a))
      runs.back().runs *= shape.length(a);
    else
      runs.push_back({shape.stride(a), shape.length(a)});
  }
  Extent e = out_block(std::move(first));
  e.parts = parts;
  e.part = part;
  std::size_t at = 0;
  if (!runs.empty() && runs[0].stride == 1) e.runs[0].count = runs[at++].runs;
  if (at < runs.size()) e.runs[0].inner = runs[at++];
  if (at < runs.size()) e.runs[0].outer = runs[at++];
  return e;
}

LaneBuilder lane_of(const Torus& torus, const Collective& c, std::int64_t index, Rank rank) {
  const auto n = static_cast<std::int64_t>(torus.axes.size());
  const std::int64_t step = index < n ? 1 : -1;
  const Shape& shape = torus.space.shape();
  LaneBuilder lane(LaneId{static_cast<std::int32_t>(index)}, fmt::format("rings, rotation {}", index), torus.window);
  const auto own = [&](Layout layout) {
    Extent e = blocks(layout, std::int64_t{rank.value});
    e.parts = torus.lanes;
    e.part = index;
    return e;
  };
  if (!c.aliased(rank)) lane.step(copy(out[own(Layout::output_blocks)], in[own(Layout::input_blocks)]));
  std::vector<std::int32_t> done;
  std::int64_t corner = rank.value; // of what the phases so far have brought together
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int32_t axis = torus.axes[static_cast<std::size_t>((index + j) % n)];
    const std::int64_t length = shape.length(axis), stride = shape.stride(axis), x = shape.coordinate(rank.value, axis),
                       rest = corner - x * stride;
    // What came from i + 1 places back along the lane's direction.
    const auto from = [&](const Expression& i) {
      return out[slab(shape, mod(x - step * i, length) * stride + rest, done, index, torus.lanes)];
    };
    lane.loop(length - 1, [&](Variable i) {
      return exchange(shape.shifted(rank.value, axis, static_cast<std::int32_t>(step)), from(i),
                      shape.shifted(rank.value, axis, static_cast<std::int32_t>(-step)), into(from(i + 1)));
    });
    done.push_back(axis);
    corner = rest;
  }
  return lane;
}

struct Recipe {
  bool rotated;

  Result<Schedule> operator()(const Collective& c, const RankSpace& space, const Parameters& p) const {
    if (!space.has_shape() || !space.row_major())
      return not_applicable(fmt::format("it needs a torus in its own order, and the ranks are a {}", space.name()));
    Torus torus{space, {}, 1, {}, p.window.value_or(2)};
    bool rings = true;
    for (std::int32_t a = 0; a < space.shape().dimensions(); ++a) {
      const Axis& axis = space.shape().axes()[static_cast<std::size_t>(a)];
      if (axis.length == 1) continue;
      if (!axis.wraps && axis.length > 2)
        return not_applicable(fmt::format("{} has a mesh axis, on which no ring closes", space.shape().text()));
      torus.axes.push_back(a);
      rings &= axis.is_ring();
    }
    const auto n = static_cast<std::int64_t>(torus.axes.size()), most = rings ? 2 * n : n;
    if (rotated) torus.lanes = p.trees.value_or(most);
    if (torus.lanes > most)
      return not_applicable(fmt::format("{} lanes do not fit {}: at most {}", torus.lanes, space.shape().text(), most));
    const Result<Segments> segments = choose_segments(c, p, torus.lanes, Pipelining::whole_message);
    if (!segments) return segments.error();
    torus.segments = *segments;
    Schedule s;
    s.collective = c;
    s.segments = torus.segments;
    s.parameters = fmt::format("lanes={} segments={} window={}", torus.lanes, torus.segments.count, torus.window);
    s.claims.neighbours_only = true;
    s.program = [torus, c](Rank rank) {
      ProgramBuilder program(torus.segments);
      for (std::int64_t l = 0; l < torus.lanes; ++l) program.add(lane_of(torus, c, l, rank));
      return program.finish();
    };
    return s;
  }
};

Variant row(std::string name, std::string summary, std::string cost, bool rotated) {
  Variant v;
  v.kind = CollectiveKind::allgather;
  v.name = std::move(name);
  v.summary = std::move(summary);
  v.cost = std::move(cost);
  v.reference = "K computer's MPI; Jain, Sabharwal, ICS 2010";
  v.parameters = segment_parameters();
  if (rotated) v.parameters.push_back({"trees", "2 x dimensions", "lanes: rotations of the axes in both directions"});
  v.recipe = Recipe{rotated};
  return v;
}

} // namespace

Rows allgather_bucket_rows() {
  return {row("bucket", "rings along one axis of the torus after the other", "Σ(L - 1)α + (P - 1)nβ", false)};
}
Rows allgather_rotated_rings_rows() {
  return {row("rotated_rings", "2d buckets at once, axis orders rotated, on all links of a torus",
              "Σ(L - 1)α + (P - 1)nβ/(2d), d dimensions", true)};
}

} // namespace kumihimo
