#include "collectives/patterns/trees/tree.hpp"

#include "program/builder.hpp"

#include <fmt/format.h>

#include <numeric>

namespace kumihimo {
namespace {

// Own value first, then the children in order; the sum goes to the parent. Only the root of a reduce, and every rank of
// an allreduce, has an output to accumulate in; others use scratch.
LaneBuilder reduce_lane(ProgramBuilder& program, LaneId id, const TreePlace& place, const Extent& share,
                        bool has_output, std::int64_t trees, std::int64_t window) {
  LaneBuilder lane(id, fmt::format("reduce, tree {}", id.value), window);
  Array sum = acc;
  if (!has_output && !place.children.empty()) sum = accumulate_in(program.scratch(id, 1, trees));
  for (const auto& child : place.children)
    lane.step(receive_reduce(child.rank.value, sum[share], child.ranks_before ? Arriving::left : Arriving::right));
  if (place.parent) lane.step(send(place.parent->value, sum[share]));
  return lane;
}

LaneBuilder bcast_lane(LaneId id, std::int64_t tree, const TreePlace& place, const Extent& share,
                       const TreeOptions& o) {
  LaneBuilder lane(id, fmt::format("broadcast, tree {}", tree), o.window);
  if (place.parent) lane.step(receive(place.parent->value, out[share]));
  std::vector<Step> sends;
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child)
    sends.push_back(send(child->rank.value, out[share]));
  if (o.sends == SendOrder::in_turn)
    for (Step& step : sends) lane.step(std::move(step));
  else if (!sends.empty())
    lane.round(std::move(sends));
  return lane;
}

std::vector<LaneId> first_lanes(std::int64_t trees) {
  std::vector<LaneId> lanes;
  for (std::int64_t t = 0; t < trees; ++t) lanes.emplace_back(static_cast<std::int32_t>(t));
  return lanes;
}

} // namespace

Schedule tree_schedule(const Collective& collective, Forest forest, const TreeOptions& o) {
  const bool reduces = collective.kind != CollectiveKind::bcast;
  const bool broadcasts = collective.kind != CollectiveKind::reduce;
  Schedule s(collective);
  s.segments = o.segments;
  s.claims = o.claims;
  s.parameters = fmt::format("trees={} segments={} window={}{}", forest.trees, o.segments.count, o.window,
                             reduces && broadcasts && o.overlap ? " overlap" : "");
  s.program = [=](Rank rank) {
    ProgramBuilder program(o.segments);
    for (std::int64_t t = 0; t < forest.trees; ++t) {
      const TreePlace place = forest.place(t, rank);
      const Extent share = part(t, forest.trees);
      const LaneId first{static_cast<std::int32_t>(t)}, second{static_cast<std::int32_t>(forest.trees + t)};
      if (reduces)
        program.add(reduce_lane(program, first, place, share, broadcasts || !place.parent, forest.trees, o.window));
      if (!broadcasts) continue;
      LaneBuilder lane = bcast_lane(reduces ? second : first, t, place, share, o);
      if (reduces && o.overlap) lane.after({first}, Scope::segment);
      if (reduces && !o.overlap) lane.after(first_lanes(forest.trees), Scope::all);
      program.add(std::move(lane));
    }
    return program.finish();
  };
  return s;
}

std::vector<Variant::Parameter> tree_parameters(std::string segment_default, bool overlap) {
  return {{parameter::segment_bytes, DerivedDefault{std::move(segment_default)}},
          {parameter::window, 4},
          {parameter::overlap, overlap, CollectiveKind::allreduce}};
}

} // namespace kumihimo
