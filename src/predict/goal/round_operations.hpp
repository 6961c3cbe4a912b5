// The rounds of a rank's lanes as operations: what programs.hpp says of each step.
#pragma once

#include "goal/graph.hpp"
#include "program/binding.hpp"
#include "program/computing.hpp"
#include "program/program_set.hpp"
#include "program/round_graph.hpp"

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace kumihimo::goal {

// What a rank's own work takes.
struct WorkRates {
  double reduced = 0, copied = 0; // result bytes a second; 0: takes no time
  ComputeRates compute;           // of compute steps
  // Of a rank. Processor 0 reduces, copies and computes; messages of the n-th lane have one of the others, if there are
  // more, and an interface: n modulo their number.
  std::int32_t cpus = 1, nics = 1;
  std::int64_t most = std::int64_t{1} << 27; // operations of all different graphs
  // For a model of the node's memories and engines: sums and copies in bytes (Kind::sum, copy), offloads, signals
  // without a byte, and for each lane of a rank a number of its own, 256 cpu + nic.
  bool in_bytes = false;
  std::function<Result<double>(const kumihimo::Work& work, Rank rank)> seconds_of =
      {}; // of compute steps, instead of `compute`
};

// Tags are first ... first + count - 1. Every lane has a 4096th of them, for each segment and message between a pair,
// modulo what there is. Messages with equal tags match in their order.
struct Tags {
  std::uint32_t first = 0, count = any_tag;
};

// What all ranks of a set share.
struct OfSet {
  const ProgramSet& set;
  WorkRates rates;
  Tags tags;
  std::unordered_map<std::int32_t, std::uint32_t> lanes; // by id
  std::uint32_t index_of(LaneId lane) {                  // dense, in the order met
    return lanes.try_emplace(lane.value, static_cast<std::uint32_t>(lanes.size())).first->second;
  }
};

// Something that is complete when these operations have ended.
using Point = std::vector<std::uint32_t>;
void add_to(Point& point, const Point& more);

class RoundOperations {
 public:
  struct OfLane {
    std::uint32_t index = 0; // dense, the same on all ranks
    std::uint32_t here = 0;  // among the lanes of the rank
    RoundGraph rounds;       // of the lane, which outlives them
    // Of the segment so far, by peer: messages are told apart by their numbers.
    std::map<std::int32_t, std::int64_t> sent, received;
    std::int64_t offloads = 0;
    std::vector<char> present; // of the steps with data or computation that add() made last, those that are not empty
    void begin_segment() { sent.clear(), received.clear(), offloads = 0; }
  };
  // `distance`: as ProgramOperations::append has it. `put`: its messages are puts.
  RoundOperations(OfSet& of, Rank rank, std::function<std::int32_t(std::int32_t peer)> distance, bool put);

  Result<OfLane> open(const Lane& lane, std::uint32_t here);
  // Replaces the rounds.
  Status read(OfLane& of, const Lane& lane) const;
  // The point at which all rounds of a segment are complete, which begin at `start`.
  Result<Point> add(GraphBuilder& graph, OfLane& lane, std::int64_t segment, const Point& start);
  // In bytes: the graph of the whole of segment `from`, as add() made the last one, as that of `to`. False: other steps
  // are empty.
  bool renew(Graph& graph, const OfLane& lane, std::int64_t from, std::int64_t to) const;
  static Point joined(GraphBuilder& graph, const Point& point);
  Error at_rank(Error error) const;
  Error too_many() const;

 private:
  struct Planned { // a step: its operation, and the work behind it; either may be missing
    std::optional<GraphOperation> operation, behind;
  };
  Result<Point> add_round(GraphBuilder& graph, OfLane& lane, const RoundGraph::Vertex& vertex, std::int64_t segment,
                          Point start);
  Status plan(OfLane& lane, const Round& round, const Step& step, const LoopValues& values);
  Status plan_compute(OfLane& lane, const kumihimo::Work& work);
  Status plan_offload(OfLane& lane, std::int64_t segment, std::int64_t bytes);
  Status plan_message(OfLane& lane, const Step& step, std::int64_t bytes, std::int64_t gap, const LoopValues& values);
  std::optional<GraphOperation> work(const OfLane& lane, Kind kind, std::int64_t bytes) const;
  std::int64_t bytes_of(const Step& step, const LoopValues& values) const {
    return step.has_data() ? binding_.length(step.extent(), values) * set_.data->type_bytes : 0;
  }
  void place(const OfLane& lane, GraphOperation& operation) const;
  std::int64_t tags_of_lane() const;
  std::uint32_t tag_of(const OfLane& lane, std::int64_t segment, std::int64_t n) const;

  OfSet& of_;
  const ProgramSet& set_;
  const WorkRates& rates_;
  Rank rank_;
  std::function<std::int32_t(std::int32_t)> distance_;
  bool put_;
  Binding binding_;
  std::vector<Planned> planned_; // of the current round
};

} // namespace kumihimo::goal
