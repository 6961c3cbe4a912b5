#include "goal/programs.hpp"

#include "program/phases.hpp"
#include "program/segment_start.hpp"

#include <fmt/format.h>

namespace kumihimo::goal {
namespace {

bool has_concurrent_lanes(const Program& program) {
  Phases phases;
  phases.add(program);
  phases.find();
  return phases.has_concurrent_lanes();
}

// Of one rank.
class RankOperations {
 public:
  RankOperations(OfSet& of, GraphBuilder& graph, Rank rank, const std::function<std::int32_t(std::int32_t)>& distance)
      : set_(of.set), graph_(graph), program_(set_.program(rank)),
        rounds_(of, rank, distance, has_concurrent_lanes(program_)) {}

  Result<Point> run(const Point& after) {
    if (Status s = open_lanes(); !s) return s.error();
    for (bool any = true; any;) {
      any = false;
      for (LaneState& lane : lanes_)
        for (; may_begin(lane); any = true)
          if (Status s = add_segment(lane, after); !s) return s.error();
    }
    Point end;
    for (const LaneState& lane : lanes_) {
      if (lane.begun < segments())
        return rounds_.at_rank(failed("its lanes wait for each other", {}, "check it with kumihimo verify"));
      add_to(end, lane.up_to.back());
    }
    return end.empty() ? after : end;
  }

 private:
  struct LaneState {
    const Lane* lane = nullptr;
    RoundOperations::OfLane rounds;
    std::vector<SegmentWait> waits;
    std::int64_t begun = 0;
    Point start;                        // of the segment that began last
    std::vector<Point> complete, up_to; // by segment: it is, and all up to it are
  };

  std::int64_t segments() const { return set_.segments.count; }

  Status open_lanes() {
    auto waits = waits_of(program_, set_.segments);
    for (std::size_t l = 0; l < program_.lanes.size(); ++l) {
      LaneState state;
      state.lane = &program_.lanes[l];
      state.rounds = TRY(rounds_.open(*state.lane, static_cast<std::uint32_t>(l)));
      state.waits = std::move(waits[l]);
      lanes_.push_back(std::move(state));
    }
    return Nothing{};
  }

  bool may_begin(const LaneState& lane) const {
    return may_start(
        {lane.begun, lane.begun, 1}, segments(), lane.waits,
        [&](std::int32_t other) { return lanes_[static_cast<std::size_t>(other)].begun == segments(); },
        [&](std::int32_t other, std::int64_t segment) {
          return segment < lanes_[static_cast<std::size_t>(other)].begun;
        });
  }

  Point start_of(const LaneState& lane, std::int64_t segment, const Point& after) const {
    Point start;
    const auto at = [](const std::vector<Point>& points, std::int64_t s) -> const Point& {
      return points[static_cast<std::size_t>(s)];
    };
    if (segment >= lane.lane->window) add_to(start, at(lane.up_to, segment - lane.lane->window));
    for (const SegmentWait& wait : lane.waits) {
      const LaneState& other = lanes_[static_cast<std::size_t>(wait.lane)];
      if (wait.all)
        add_to(start, other.up_to.back());
      else if (segment >= wait.behind)
        add_to(start, at(other.complete, segment - wait.behind));
    }
    if (lane.lane->window > 1 && !lane.waits.empty()) add_to(start, lane.start); // segments begin in their order
    return start.empty() ? after : start;
  }

  Status add_segment(LaneState& lane, const Point& after) {
    const std::int64_t segment = lane.begun++;
    lane.start = start_of(lane, segment, after);
    if (lane.start.size() > 2) lane.start = RoundOperations::joined(graph_, lane.start);
    lane.rounds.begin_segment();
    const Point end = TRY(rounds_.add(graph_, lane.rounds, segment, lane.start));
    lane.complete.push_back(end);
    if (lane.lane->window == 1 || segment == 0) {
      lane.up_to.push_back(end);
      return Nothing{};
    }
    Point both = lane.up_to.back();
    add_to(both, end);
    lane.up_to.push_back(both.size() > 2 ? RoundOperations::joined(graph_, both) : both);
    return Nothing{};
  }

  const ProgramSet& set_;
  GraphBuilder& graph_;
  Program program_;
  RoundOperations rounds_;
  std::vector<LaneState> lanes_;
};

} // namespace

Result<std::vector<std::uint32_t>>
ProgramOperations::append(GraphBuilder& graph, Rank rank, std::span<const std::uint32_t> after,
                          const std::function<std::int32_t(std::int32_t)>& distance) {
  return RankOperations(of_, graph, rank, distance).run(Point(after.begin(), after.end()));
}

Result<Graphs> graphs_of(const ProgramSet& set, const WorkRates& rates) {
  Graphs graphs(set.ranks());
  ProgramOperations operations(set, rates);
  std::int64_t kept = 0;
  GraphBuilder last;
  for (std::int32_t rank = 0; rank < set.ranks(); ++rank) {
    GraphBuilder builder; // grown step by step, it would give its memory back to the system after each rank
    builder.reserve_as(last);
    const auto distance = [&](std::int32_t peer) { return graphs.distance(rank, peer); };
    if (const auto end = operations.append(builder, Rank{rank}, {}, distance); !end) return end.error();
    const std::size_t before = graphs.different();
    graphs.set(rank, builder.finish());
    last = std::move(builder);
    if (graphs.different() == before) continue;
    kept += static_cast<std::int64_t>(graphs.of(rank).operations.size());
    if (kept > rates.most)
      return wrong_value(fmt::format("all different programs together must be at most {} operations", rates.most),
                         fmt::format("more at rank {} of {}", rank, set.ranks()), "take fewer ranks or segments");
  }
  return graphs;
}

} // namespace kumihimo::goal
