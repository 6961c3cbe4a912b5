// The stage `levels`: walks the programs of all ranks together, level by level. A level is the set of messages whose
// two ends have both started; its shares of the network are solved once. Memory is proportional to the steps in
// progress.
#pragma once

#include "simulate/flow/collapsed_loops.hpp"
#include "simulate/flow/compiled.hpp"
#include "simulate/flow/lane_processors.hpp"
#include "simulate/flow/level_times.hpp"
#include "simulate/flow/loads.hpp"
#include "simulate/flow/matching.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace kumihimo::simulation {

// Of one lane at one rank.
struct LaneTimes {
  double start = 0; // of its first segment
  PathTime end;     // of the segments that were walked; the stage `periods` adds the others
  double busy = 0;  // seconds of one segment without waiting for others
};

// Of the phases so far.
struct WalkProgress {
  WalkProgress() = default;
  WalkProgress(const Compiled& compiled, const NetworkPaths& network)
      : lanes(compiled.instances.size()), traffic{
                                              std::vector<ResourceTraffic::OfResource>(network.capacities().size())} {}

  std::vector<LaneTimes> lanes; // by instance
  ResourceTraffic traffic;
};

// What the walk of a phase came to.
struct PhaseWalk {
  WalkProgress progress;                 // this phase included
  Loads loads;                           // if segments follow that were not walked
  std::vector<double> summed;            // bytes by rank, of all segments
  double late_overlap = 0;               // seconds by which messages of later levels may lengthen it
  bool empty_messages = false;           // fewer elements than messages: some have none, and are not sent
  bool early_messages = false;           // see NetworkPaths::leaves_early
  bool straddles_limits = false;         // of lengths that differ by an element, some are eager and some are not
  std::int64_t levels = 0, messages = 0; // that were walked
};

// Of a loop or lane of which some iterations or segments are in flight: each begins when all that are farther before it
// are complete.
class Window {
 public:
  explicit Window(std::int64_t in_flight = 0) : ends_(static_cast<std::size_t>(in_flight)) {}
  // One is complete. next(when, number) for each number of first ones that are complete now.
  template <class F>
  void end(std::int64_t iteration, const PathTime& end, F&& next) {
    slot(iteration) = end;
    while (slot(done_)) {
      joined_ = later(joined_, *slot(done_));
      slot(done_).reset();
      next(joined_, ++done_);
    }
  }

 private:
  std::optional<PathTime>& slot(std::int64_t iteration) {
    return ends_[static_cast<std::size_t>(iteration % std::ssize(ends_))];
  }
  std::vector<std::optional<PathTime>> ends_; // of those that are complete while one before them is not
  std::int64_t done_ = 0;                     // all below are complete
  PathTime joined_;                           // when they were
};

class Walk {
 public:
  // `segments`: so many are walked; the others are like them.
  Walk(const Compiled& compiled, const NetworkPaths& network, std::int64_t segments, const FittedNumbers& fitted);

  // Phases in their order, each after the ones before. Errors: messages that do not match.
  Result<PhaseWalk> phase(std::int32_t phase, WalkProgress before);

 private:
  // A position in a body: of a segment of a lane, or of one iteration of a loop.
  struct Frame {
    std::int32_t instance = 0, parent = -1, depth = 0;
    std::int32_t loop_set = -1;                     // of an iteration of a collapsed loop: its member of `loops_`
    std::int64_t iteration = 0;                     // or segment
    std::int64_t pending = 0;                       // steps of the round, or iterations of the loop
    const FlatNode *node = nullptr, *end = nullptr; // the current one, and behind the last
    double busy = 0, round_busy = 0;
    PathTime next, now; // the latest completion in the current node; when it could start
    const FlatNode* begin = nullptr;
    double repetitions = 1, sample_weight = 1; // see Posted
  };
  struct Offload {
    PathTime start;
    std::vector<std::int32_t> frames;
  };

  bool is_pipeline() const { return compiled_.segments > walked_; } // segments follow those that are walked

  // When a segment can start, of those that it waits for so far. A lane's only segment shares that with the lane.
  PathTime& time_of(std::int32_t instance, std::int64_t segment) {
    return walked_ == 1 ? times_of(instance).end : segment_starts_[instance * walked_ + segment];
  }
  LaneTimes& times_of(std::uint32_t instance) { return result_.progress.lanes[instance]; }
  void begin_lane(std::int32_t instance);
  void start_segment(std::int32_t instance, std::int64_t segment);
  void release(std::int32_t instance, std::int64_t segment, const PathTime& time);
  void end_segment(std::int32_t instance, std::int64_t segment, const PathTime& end, double busy);
  bool has_ended(std::int32_t rank, std::int32_t lane) const;
  Status finished() const;

  std::int32_t make_frame(const Frame& frame);
  void advance(std::int32_t frame);
  bool read_on(std::int32_t frame);
  void start_round(std::int32_t frame, const FlatNode& round);
  void start_loop(std::int32_t frame, const FlatNode& loop);
  void post(std::int32_t frame, const FlatStep& step);
  void local_step(std::int32_t frame, StepKind kind, double bytes);
  void offload_step(std::int32_t frame);
  void complete(std::int32_t frame, const PathTime& end, double busy);
  void finish(std::int32_t frame);
  void finish_iteration(std::int32_t frame);
  PathTime of_all_iterations(const PathTime& before, const PathTime& walked, const FlatNode& loop) const;
  void release_loop(std::int32_t member);
  bool release_stuck();
  double earliest() const;
  LoopValues values_of(std::int32_t frame) const;
  std::int32_t loop_around(std::int32_t frame) const;
  void connect_loops(std::int32_t a, std::int32_t b);

  void gather();
  void add_path(FlowMessage& message, const Transfer& transfer);
  void set_start(FlowMessage& message);
  void add(const FlowMessage& message);
  bool straddles(const Transfer& mean) const;
  void check_lengths(StepMatching::Id queue);
  bool drifts(const FlowMessage& message) const;
  void deliver(const FlowMessage& message, double rate);
  PathTime start_of(const FlowMessage& message) const; // until it is consumed

  const Compiled& compiled_;
  const NetworkPaths& network_;
  const std::int64_t walked_; // segments
  const double element_;      // bytes

  std::int32_t phase_ = 0;
  PhaseWalk result_;
  std::vector<std::int32_t> missing_;    // lanes (and the window) that each segment waits for, by instance
  std::vector<std::int64_t> unfinished_; // segments, by instance
  std::vector<PathTime> segment_starts_; // if several are walked
  std::vector<Window> lane_windows_;     // then, too: by instance
  std::vector<LanePiece> pieces_;        // by long lane: the rounds that are held
  std::vector<Frame> frames_;
  std::vector<std::int32_t> unused_, frontier_, current_;
  std::unordered_map<std::int32_t, Window> windows_; // by the frame that the loop is in
  LoopSets loops_;
  std::vector<std::vector<Offload>> offloads_; // [lane][k]
  std::vector<std::int32_t> offloads_of_;      // by instance: how many it has posted
  MeanLengths lengths_;                        // of steps that depend on iterated loops
  StepMatching matching_;
  std::vector<FlowMessage> local_; // steps of the next level
  FlowLevel level_;
  LevelTimes times_;
  LaneProcessors processors_;
  Status wrong_ = Nothing{}; // with the schedule, found on the way
};

} // namespace kumihimo::simulation
