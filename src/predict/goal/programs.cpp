#include "goal/programs.hpp"

#include "program/binding.hpp"
#include "program/phases.hpp"
#include "program/round_graph.hpp"
#include "program/segment_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace kumihimo::goal {
namespace {

constexpr std::uint32_t most_lanes = 4096;
constexpr const char* verify_it = "check it with kumihimo verify";

// Something that is complete when these operations have ended.
using Point = std::vector<std::uint32_t>;

void add_to(Point& point, const Point& more) {
  point.insert(point.end(), more.begin(), more.end());
  std::sort(point.begin(), point.end());
  point.erase(std::unique(point.begin(), point.end()), point.end());
}

bool has_concurrent_lanes(const Program& program) {
  Phases phases;
  phases.add(program);
  phases.find();
  return phases.has_concurrent_lanes();
}

} // namespace

// Of one rank.
class RankOperations {
 public:
  RankOperations(ProgramOperations& of, GraphBuilder& graph, Rank rank,
                 const std::function<std::int32_t(std::int32_t)>& distance)
      : of_(of), set_(of.set_), rates_(of.rates_), graph_(graph), rank_(rank), distance_(distance),
        program_(set_.program(rank)), binding_(set_, rank) {}

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
      if (lane.begun < segments()) return at_rank(failed("its lanes wait for each other", {}, verify_it));
      add_to(end, lane.up_to.back());
    }
    return end.empty() ? after : end;
  }

 private:
  struct LaneState {
    const Lane* lane = nullptr;
    std::uint32_t index = 0; // dense, the same on all ranks
    RoundGraph rounds;
    std::vector<SegmentWait> waits;
    std::int64_t begun = 0;
    Point start;                        // of the segment that began last
    std::vector<Point> complete, up_to; // by segment: it is, and all up to it are
  };
  struct Planned { // a step: its operation, and the calc behind it; either may be missing
    std::optional<Operation> operation;
    std::uint64_t behind = 0;
  };

  std::int64_t segments() const { return set_.segments.count; }
  Error at_rank(Error error) const { return located(fmt::format("rank {}", rank_.value), std::move(error)); }

  Status open_lanes() {
    auto waits = waits_of(program_, set_.segments);
    for (std::size_t l = 0; l < program_.lanes.size(); ++l) {
      LaneState state;
      state.lane = &program_.lanes[l];
      state.index = of_.index_of(state.lane->id);
      state.waits = std::move(waits[l]);
      auto rounds = round_graph(*state.lane, rates_.most);
      if (!rounds) return too_many();
      state.rounds = *std::move(rounds);
      lanes_.push_back(std::move(state));
    }
    if (of_.lanes_.size() > most_lanes)
      return at_rank(wrong_value(fmt::format("there must be at most {} lanes", most_lanes), of_.lanes_.size()));
    if (segments() > tags_of_lane())
      return at_rank(wrong_value(fmt::format("there must be at most {} segments", tags_of_lane()), segments()));
    return Nothing{};
  }

  Error too_many() const {
    return at_rank(wrong_value(fmt::format("programs must be at most {} operations", rates_.most), "more",
                               "take fewer ranks or segments"));
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
    if (lane.start.size() > 2) lane.start = joined(lane.start);
    const Point end = TRY(add_rounds(lane, segment));
    lane.complete.push_back(end);
    if (lane.lane->window == 1 || segment == 0) {
      lane.up_to.push_back(end);
      return Nothing{};
    }
    Point both = lane.up_to.back();
    add_to(both, end);
    lane.up_to.push_back(both.size() > 2 ? joined(both) : both);
    return Nothing{};
  }

  // The point at which all rounds of a segment are complete: the last of them waits for all others.
  Result<Point> add_rounds(const LaneState& lane, std::int64_t segment) {
    sent_.clear(), received_.clear();
    const RoundGraph& graph = lane.rounds;
    if (graph.is_chain) {
      Point at = lane.start;
      for (const RoundGraph::Vertex& vertex : graph.vertices) at = TRY(add_round(lane, vertex, segment, std::move(at)));
      return at;
    }
    std::vector<Point> points;
    auto edge = graph.edges.begin(); // by `to`
    for (std::size_t v = 0; v < graph.vertices.size(); ++v) {
      Point start;
      bool first = true;
      for (; edge != graph.edges.end() && static_cast<std::size_t>(edge->to) == v; ++edge, first = false)
        add_to(start, points[static_cast<std::size_t>(edge->from)]);
      points.push_back(TRY(add_round(lane, graph.vertices[v], segment, first ? lane.start : std::move(start))));
    }
    return points.empty() ? lane.start : points.back();
  }

  Result<Point> add_round(const LaneState& lane, const RoundGraph::Vertex& vertex, std::int64_t segment, Point start) {
    planned_.clear();
    if (vertex.round) {
      LoopValues values = vertex.values;
      values[0] = segment;
      for (const Step& step : vertex.round->steps)
        if (Status s = plan(lane, *vertex.round, step, values); !s) return s.error();
    }
    if (planned_.empty()) return start.size() > 2 ? joined(start) : std::move(start);
    if (planned_.size() > 1 && start.size() > 1) start = joined(start); // fewer edges, and one counter
    Point end;
    for (const Planned& each : planned_) {
      std::uint32_t last = 0;
      if (each.operation) {
        last = graph_.add(*each.operation);
        for (const std::uint32_t on : start) graph_.after_end(last, on);
      }
      if (each.behind > 0) {
        const std::uint32_t behind = graph_.add(calc(each.behind));
        if (each.operation)
          graph_.after_end(behind, last);
        else
          for (const std::uint32_t on : start) graph_.after_end(behind, on);
        last = behind;
      }
      end.push_back(last);
    }
    if (static_cast<std::int64_t>(graph_.size()) > rates_.most) return too_many();
    return end;
  }

  Point joined(const Point& point) {
    const std::uint32_t join = graph_.add({});
    for (const std::uint32_t on : point) graph_.after_end(join, on);
    return {join};
  }

  static Operation calc(std::uint64_t picoseconds) {
    Operation calc;
    calc.kind = Kind::calc, calc.size = picoseconds;
    return calc;
  }
  std::uint8_t cpu(const LaneState& lane) const {
    const auto others = static_cast<std::uint32_t>(rates_.cpus - 1);
    return others == 0 ? 0 : static_cast<std::uint8_t>(1 + lane.index % others);
  }

  static std::uint64_t time_of(std::int64_t bytes, double rate) {
    return rate > 0 ? static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) / rate * 1e12)) : 0;
  }

  Status plan(const LaneState& lane, const Round& round, const Step& step, const LoopValues& values) {
    const std::int64_t bytes = step.has_data() ? binding_.length(step.extent(), values) * set_.data->type_bytes : 0;
    if (step.has_data() && bytes == 0) return Nothing{};
    switch (step.kind) {
    case StepKind::copy: return plan_calc(time_of(bytes, rates_.copied));
    case StepKind::reduce: return plan_calc(time_of(bytes, rates_.reduced));
    case StepKind::compute: {
      const auto seconds = seconds_of(step.work, rates_.compute);
      if (!seconds) return at_rank(seconds.error());
      return plan_calc(static_cast<std::uint64_t>(std::llround(*seconds * 1e12)));
    }
    case StepKind::offload:
      return not_applicable("graphs of operations know no engine of the network, which an offload step needs", {},
                            "take another algorithm, or simulate it alone in the model flow");
    default: return plan_message(lane, step, bytes, round.gap.evaluate(values), values);
    }
  }

  Status plan_calc(std::uint64_t picoseconds) {
    if (picoseconds > 0) planned_.push_back({std::nullopt, picoseconds});
    return Nothing{};
  }

  Status plan_message(const LaneState& lane, const Step& step, std::int64_t bytes, std::int64_t gap,
                      const LoopValues& values) {
    const std::int64_t peer = step.peer.evaluate(values);
    if (peer < 0 || peer >= set_.ranks())
      return at_rank(wrong_value(fmt::format("a peer must be a rank from 0 to {}", set_.ranks() - 1), peer, verify_it));
    if (bytes > static_cast<std::int64_t>(most_message_bytes))
      return at_rank(wrong_value(fmt::format("a message must have at most {} bytes", most_message_bytes), bytes));
    Operation message;
    message.kind = step.sends() ? Kind::send : Kind::receive;
    message.size = step.is_signal() ? 1 : static_cast<std::uint64_t>(bytes);
    message.peer = distance_(static_cast<std::int32_t>(peer));
    message.tag = tag_of(lane, values[0], (step.sends() ? sent_ : received_)[static_cast<std::int32_t>(peer)]++);
    if (step.sends() && bytes > 0)
      message.gap =
          static_cast<std::uint32_t>(std::min(1e9, 1000 * static_cast<double>(gap) / static_cast<double>(bytes) + 0.5));
    message.put = has_concurrent_lanes_;
    message.cpu = cpu(lane),
    message.nic = static_cast<std::uint8_t>(lane.index % static_cast<std::uint32_t>(rates_.nics));
    planned_.push_back({message, step.kind == StepKind::receive_reduce ? time_of(bytes, rates_.reduced) : 0});
    return Nothing{};
  }

  std::int64_t tags_of_lane() const { return of_.tags_.count / most_lanes; }
  // Of the n-th message of a segment between a pair.
  std::uint32_t tag_of(const LaneState& lane, std::int64_t segment, std::int64_t n) const {
    const std::int64_t each = tags_of_lane() / segments();
    return of_.tags_.first + static_cast<std::uint32_t>(lane.index * tags_of_lane() + n % each * segments() + segment);
  }

  ProgramOperations& of_;
  const ProgramSet& set_;
  const WorkRates& rates_;
  GraphBuilder& graph_;
  Rank rank_;
  const std::function<std::int32_t(std::int32_t)>& distance_;
  Program program_;
  const bool has_concurrent_lanes_ = has_concurrent_lanes(program_);
  Binding binding_;
  std::vector<LaneState> lanes_;
  std::vector<Planned> planned_;                         // of the current round
  std::map<std::int32_t, std::int64_t> sent_, received_; // messages of the current segment, by peer
};

std::uint32_t ProgramOperations::index_of(LaneId lane) {
  return lanes_.try_emplace(lane.value, static_cast<std::uint32_t>(lanes_.size())).first->second;
}

Result<std::vector<std::uint32_t>>
ProgramOperations::append(GraphBuilder& graph, Rank rank, std::span<const std::uint32_t> after,
                          const std::function<std::int32_t(std::int32_t)>& distance) {
  return RankOperations(*this, graph, rank, distance).run(Point(after.begin(), after.end()));
}

Result<Graphs> graphs_of(const ProgramSet& set, const WorkRates& rates) {
  Graphs graphs(set.ranks());
  ProgramOperations operations(set, rates);
  std::int64_t kept = 0;
  for (std::int32_t rank = 0; rank < set.ranks(); ++rank) {
    GraphBuilder builder;
    const auto distance = [&](std::int32_t peer) { return graphs.distance(rank, peer); };
    if (const auto end = operations.append(builder, Rank{rank}, {}, distance); !end) return end.error();
    const std::size_t before = graphs.different();
    graphs.set(rank, builder.finish());
    if (graphs.different() == before) continue;
    kept += static_cast<std::int64_t>(graphs.of(rank).operations.size());
    if (kept > rates.most)
      return wrong_value(fmt::format("all different programs together must be at most {} operations", rates.most),
                         fmt::format("more at rank {} of {}", rank, set.ranks()), "take fewer ranks or segments");
  }
  return graphs;
}

} // namespace kumihimo::goal
