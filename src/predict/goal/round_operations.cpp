#include "goal/round_operations.hpp"

#include "goal/longest_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kumihimo::goal {
namespace {

constexpr std::uint32_t most_lanes = 4096;
constexpr const char* verify_it = "check it with kumihimo verify";

// In thousandths of the message's time.
std::uint32_t gap_of(std::int64_t gap, std::int64_t bytes) {
  if (bytes == 0) return 0;
  return static_cast<std::uint32_t>(std::min(1e9, 1000 * static_cast<double>(gap) / static_cast<double>(bytes) + 0.5));
}

} // namespace

void add_to(Point& point, const Point& more) {
  point.insert(point.end(), more.begin(), more.end());
  std::sort(point.begin(), point.end());
  point.erase(std::unique(point.begin(), point.end()), point.end());
}

RoundOperations::RoundOperations(OfSet& of, Rank rank, std::function<std::int32_t(std::int32_t)> distance, bool put)
    : of_(of), set_(of.set), rates_(of.rates), rank_(rank), distance_(std::move(distance)), put_(put),
      binding_(of.set, rank) {}

Error RoundOperations::at_rank(Error error) const {
  return located(fmt::format("rank {}", rank_.value), std::move(error));
}

Error RoundOperations::too_many() const {
  return at_rank(wrong_value(fmt::format("programs must be at most {} operations", rates_.most), "more",
                             "take fewer ranks or segments"));
}

Result<RoundOperations::OfLane> RoundOperations::open(const Lane& lane, std::uint32_t here) {
  OfLane of;
  of.index = of_.index_of(lane.id), of.here = here;
  if (of_.lanes.size() > most_lanes)
    return at_rank(wrong_value(fmt::format("there must be at most {} lanes", most_lanes), of_.lanes.size()));
  if (set_.segments.count > tags_of_lane())
    return at_rank(wrong_value(fmt::format("there must be at most {} segments", tags_of_lane()), set_.segments.count));
  if (Status s = read(of, lane); !s) return s.error();
  return of;
}

Status RoundOperations::read(OfLane& of, const Lane& lane) const {
  auto rounds = round_graph(lane, rates_.most);
  if (!rounds) return too_many();
  of.rounds = *std::move(rounds);
  return Nothing{};
}

// The last round waits for all others.
Result<Point> RoundOperations::add(GraphBuilder& graph, OfLane& lane, std::int64_t segment, const Point& start) {
  const RoundGraph& rounds = lane.rounds;
  lane.present.clear();
  if (rounds.is_chain) {
    Point at = start;
    for (const RoundGraph::Vertex& vertex : rounds.vertices)
      at = TRY(add_round(graph, lane, vertex, segment, std::move(at)));
    return at;
  }
  std::vector<Point> points;
  auto edge = rounds.edges.begin(); // by `to`
  for (std::size_t v = 0; v < rounds.vertices.size(); ++v) {
    Point before;
    bool first = true;
    for (; edge != rounds.edges.end() && static_cast<std::size_t>(edge->to) == v; ++edge, first = false)
      add_to(before, points[static_cast<std::size_t>(edge->from)]);
    points.push_back(TRY(add_round(graph, lane, rounds.vertices[v], segment, first ? start : std::move(before))));
  }
  return points.empty() ? start : points.back();
}

Result<Point> RoundOperations::add_round(GraphBuilder& graph, OfLane& lane, const RoundGraph::Vertex& vertex,
                                         std::int64_t segment, Point start) {
  planned_.clear();
  if (vertex.round) {
    LoopValues values = vertex.values;
    values[0] = segment;
    for (const Step& step : vertex.round->steps)
      if (Status s = plan(lane, *vertex.round, step, values); !s) return s.error();
  }
  if (planned_.empty()) return start.size() > 2 ? joined(graph, start) : std::move(start);
  if (planned_.size() > 1 && start.size() > 1) start = joined(graph, start); // fewer edges, and one counter
  Point end;
  end.reserve(planned_.size());
  for (const Planned& each : planned_) {
    std::optional<std::uint32_t> last;
    for (const auto& operation : {each.operation, each.behind}) {
      if (!operation) continue;
      const std::uint32_t added = graph.add(*operation);
      if (last)
        graph.after_end(added, *last);
      else
        for (const std::uint32_t on : start) graph.after_end(added, on);
      last = added;
    }
    end.push_back(*last);
  }
  if (static_cast<std::int64_t>(graph.size()) > rates_.most) return too_many();
  return end;
}

bool RoundOperations::renew(Graph& graph, const OfLane& lane, std::int64_t from, std::int64_t to) const {
  auto at = graph.operations.begin();
  const auto next = [&]() -> GraphOperation& {
    while (at->kind == Kind::join) ++at;
    return *at++;
  };
  auto was_present = lane.present.begin();
  for (const RoundGraph::Vertex& vertex : lane.rounds.vertices) {
    if (!vertex.round) continue;
    LoopValues values = vertex.values;
    values[0] = to;
    for (const Step& step : vertex.round->steps) {
      if (step.kind == StepKind::compute) {
        if (*was_present++) next();
        continue;
      }
      const std::int64_t bytes = bytes_of(step, values);
      if (step.has_data() && *was_present++ != (bytes > 0)) return false;
      if (step.has_data() && bytes == 0) continue;
      GraphOperation& operation = next();
      operation.size = static_cast<std::uint64_t>(bytes);
      if (operation.kind == Kind::sum || operation.kind == Kind::copy) continue;
      operation.tag += static_cast<std::uint32_t>(to - from);
      if (operation.kind == Kind::offload) continue;
      const std::int64_t peer = step.peer.evaluate(values);
      if (peer < 0 || peer >= set_.ranks()) return false; // which add() refuses
      operation.peer = distance_(static_cast<std::int32_t>(peer));
      if (step.sends()) operation.gap = gap_of(vertex.round->gap.evaluate(values), bytes);
      if (step.kind == StepKind::receive_reduce) next().size = operation.size;
    }
  }
  return true;
}

Point RoundOperations::joined(GraphBuilder& graph, const Point& point) {
  const std::uint32_t join = graph.add({});
  for (const std::uint32_t on : point) graph.after_end(join, on);
  return {join};
}

// The processor and the interface of an operation of the lane.
void RoundOperations::place(const OfLane& lane, GraphOperation& operation) const {
  if (rates_.in_bytes) {
    operation.cpu = static_cast<std::uint8_t>(lane.here / 256), operation.nic = static_cast<std::uint8_t>(lane.here);
    return;
  }
  const auto others = static_cast<std::uint32_t>(rates_.cpus - 1);
  operation.cpu = others == 0 ? 0 : static_cast<std::uint8_t>(1 + lane.index % others);
  operation.nic = static_cast<std::uint8_t>(lane.index % static_cast<std::uint32_t>(rates_.nics));
}

std::optional<GraphOperation> RoundOperations::work(const OfLane& lane, Kind kind, std::int64_t bytes) const {
  GraphOperation work;
  work.kind = kind, work.size = static_cast<std::uint64_t>(bytes);
  if (rates_.in_bytes) {
    place(lane, work);
    return work;
  }
  const double rate = kind == Kind::sum ? rates_.reduced : rates_.copied;
  work.kind = Kind::calc;
  work.size = rate > 0 ? static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) / rate * 1e12)) : 0;
  return work.size > 0 ? std::optional(work) : std::nullopt;
}

Status RoundOperations::plan(OfLane& lane, const Round& round, const Step& step, const LoopValues& values) {
  const std::int64_t bytes = bytes_of(step, values);
  if (step.has_data()) lane.present.push_back(bytes > 0);
  if (step.has_data() && bytes == 0) return Nothing{};
  switch (step.kind) {
  case StepKind::copy:
  case StepKind::reduce:
    if (const auto made = work(lane, step.kind == StepKind::copy ? Kind::copy : Kind::sum, bytes))
      planned_.push_back({std::nullopt, made});
    return Nothing{};
  case StepKind::compute: return plan_compute(lane, step.work);
  case StepKind::offload: return plan_offload(lane, values[0], bytes);
  default: return plan_message(lane, step, bytes, round.gap.evaluate(values), values);
  }
}

Status RoundOperations::plan_compute(OfLane& lane, const kumihimo::Work& work) {
  const auto seconds = rates_.seconds_of ? rates_.seconds_of(work, rank_) : seconds_of(work, rates_.compute);
  if (!seconds) return rates_.seconds_of ? seconds.error() : at_rank(seconds.error());
  if (*seconds * 1e12 >= static_cast<double>(longest_run)) return run_too_long();
  GraphOperation calc;
  calc.kind = Kind::calc, calc.size = static_cast<std::uint64_t>(std::llround(*seconds * 1e12));
  if (rates_.in_bytes) place(lane, calc);
  lane.present.push_back(calc.size > 0);
  if (calc.size > 0) planned_.push_back({std::nullopt, calc});
  return Nothing{};
}

Status RoundOperations::plan_offload(OfLane& lane, std::int64_t segment, std::int64_t bytes) {
  if (!rates_.in_bytes)
    return not_applicable("graphs of operations know no engine of the network, which an offload step needs", {},
                          "take another algorithm, or simulate it alone in the model flow");
  GraphOperation offload;
  offload.kind = Kind::offload, offload.size = static_cast<std::uint64_t>(bytes);
  offload.tag = tag_of(lane, segment, lane.offloads++);
  place(lane, offload);
  planned_.push_back({offload, std::nullopt});
  return Nothing{};
}

Status RoundOperations::plan_message(OfLane& lane, const Step& step, std::int64_t bytes, std::int64_t gap,
                                     const LoopValues& values) {
  const std::int64_t peer = step.peer.evaluate(values);
  if (peer < 0 || peer >= set_.ranks())
    return at_rank(wrong_value(fmt::format("a peer must be a rank from 0 to {}", set_.ranks() - 1), peer, verify_it));
  if (bytes > static_cast<std::int64_t>(most_message_bytes))
    return at_rank(wrong_value(fmt::format("a message must have at most {} bytes", most_message_bytes), bytes));
  GraphOperation message;
  message.kind = step.sends() ? Kind::send : Kind::receive;
  message.size = step.is_signal() && !rates_.in_bytes ? 1 : static_cast<std::uint64_t>(bytes);
  message.peer = distance_(static_cast<std::int32_t>(peer));
  message.tag = tag_of(lane, values[0], (step.sends() ? lane.sent : lane.received)[static_cast<std::int32_t>(peer)]++);
  if (step.sends()) message.gap = gap_of(gap, bytes);
  message.put = put_;
  place(lane, message);
  const bool sums = step.kind == StepKind::receive_reduce;
  message.summed = sums && rates_.in_bytes;
  planned_.push_back({message, sums ? work(lane, Kind::sum, bytes) : std::nullopt});
  return Nothing{};
}

std::int64_t RoundOperations::tags_of_lane() const { return of_.tags.count / most_lanes; }

// Of the n-th message of a segment between a pair.
std::uint32_t RoundOperations::tag_of(const OfLane& lane, std::int64_t segment, std::int64_t n) const {
  const std::int64_t each = tags_of_lane() / set_.segments.count;
  return of_.tags.first +
         static_cast<std::uint32_t>(lane.index * tags_of_lane() + n % each * set_.segments.count + segment);
}

} // namespace kumihimo::goal
