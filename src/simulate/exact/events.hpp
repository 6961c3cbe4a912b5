// The state of the exact simulation: lanes with segments in flight, channels that serve in order, and a clock.
#pragma once

#include "base/hash.hpp"
#include "base/result.hpp"
#include "program/starting.hpp"
#include "simulate/exact/fluid.hpp"
#include "simulate/exact/materialised.hpp"
#include "simulate/flow/matching.hpp"
#include "simulate/phases.hpp"
#include "simulate/prediction.hpp"

#include <deque>
#include <map>
#include <queue>

namespace kumihimo::simulation {

class Events {
 public:
  Events(const ProgramSet& schedule, const Network& network);
  Result<Prediction> run();

 private:
  struct Place { // a step in progress
    std::int32_t lane = -1, round = 0;
    std::int64_t segment = 0;
    StepKind kind = StepKind::copy;
  };
  struct Slot { // a segment in flight
    std::vector<std::int32_t> waits_for, steps_left;
    std::int64_t rounds_left = 0;
    bool complete = false;
  };
  struct Reduction {
    Place place;
    std::int64_t bytes = 0;
    bool computes = false; // time of the processor alone, as of so many bytes
  };
  struct LaneState {
    std::int32_t rank = 0;
    const Lane* lane = nullptr;
    std::vector<ExpandedRound> rounds;
    std::vector<SegmentWait> waits;
    std::vector<Slot> slots;
    std::int64_t window = 1, started = 0, done = 0; // segments; all below `done` are complete
    double issue_free = 0, end = 0;
    std::deque<Reduction> reductions; // the first is under way
  };
  struct Message {
    Channel channel;
    std::int32_t server = -1; // of the channel
    Place send, receive;
    std::int64_t bytes = 0, gap = 0;
    std::int64_t order = 0; // of its send among all
    Path path;
  };
  struct MessageKey {
    Channel channel;
    std::int64_t segment = 0;
    bool operator==(const MessageKey&) const = default;
  };
  struct MessageKeyHash {
    std::size_t operator()(const MessageKey& k) const noexcept {
      return mixed(ChannelHash{}(k.channel), static_cast<std::uint64_t>(k.segment));
    }
  };
  struct Half {
    Place place;
    std::int64_t bytes = 0, gap = 0;
    std::int64_t order = 0;
  };
  struct Server { // of a channel, in order
    std::deque<Message> waiting;
    bool busy = false;
  };
  enum class Kind : std::uint8_t { issued, flow_end, gap_end, arrived, step_end };
  struct Event {
    double time = 0;
    std::int64_t order = 0;
    Kind kind = Kind::issued;
    std::int32_t index = 0; // of a message, a flow, a server, ...
    std::uint32_t version = 0;
    bool operator>(const Event& o) const { return time != o.time ? time > o.time : order > o.order; }
  };
  struct Running {
    std::int32_t message = -1;
    std::int32_t reducing = -1; // the lane whose first reduction it is
    Place copying;              // if it is neither
  };

  void add_rank(std::int32_t rank);
  void wake(std::int32_t rank);
  bool may_begin(const LaneState& lane) const;
  void start_segment(std::int32_t lane);
  void start_ready(std::int32_t lane, std::int64_t segment);
  void start_step(const ExpandedStep& step, const Place& place);
  struct Wanted { // of a message
    std::int64_t peer = 0, bytes = 0, gap = 0;
  };
  void post(const ExpandedStep& step, const Place& place, const Wanted& wanted);
  void compute(const Place& place, const Work& work);
  void copy(std::int32_t rank, const Place& place, std::int64_t bytes);
  void offload(const Place& place, std::int32_t k);
  void step_done(const Place& place);
  bool end_round(std::int32_t lane, std::int64_t segment, std::int32_t round);
  void segment_done(std::int32_t lane, std::int64_t segment);
  void serve_requested();
  void serve(Server& server);
  void begin_flow(std::int32_t message);
  void start_fluid(const Running& running, std::span<const Resource> resources, double limit, double bytes);
  void flow_ended(std::int32_t flow);
  void release(Server& server);
  void arrive(std::int32_t message);
  void reduce(std::int32_t lane, const Reduction& reduction);
  void begin_reduction(std::int32_t lane);
  void step_at(double time, const Place& place);
  void push(double time, Kind kind, std::int32_t index, std::uint32_t version = 0);
  void handle(const Event& event);
  Slot& slot(std::int32_t lane, std::int64_t segment) { return lanes_[lane].slots[segment % lanes_[lane].window]; }
  Prediction describe() const;

  const ProgramSet& schedule_;
  const Network& network_;
  std::int64_t segments_ = 1;
  std::vector<Program> programs_;
  std::vector<Binding> bindings_;
  std::vector<LaneState> lanes_;
  std::vector<std::int32_t> first_lane_; // of each rank; one more at the end
  std::vector<std::int32_t> ready_;      // rounds to be started at once, the next one last
  bool waking_ = false;                  // a rank
  std::int64_t unfinished_ = 0;          // lanes
  Phases phases_;
  std::optional<std::int64_t> offloaded_; // bytes of the largest
  std::optional<Error> refused_;          // a compute step that the machine has no rate for

  double now_ = 0;
  std::int64_t order_ = 0, posted_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  Fluid fluid_;
  std::vector<Running> running_; // by flow
  std::vector<Message> messages_;
  std::vector<std::int32_t> free_messages_;
  std::vector<Place> pending_places_; // of step_end events
  std::vector<std::int32_t> free_places_;
  std::unordered_map<MessageKey, std::deque<Half>, MessageKeyHash> sends_, receives_;
  std::deque<Server> servers_;
  std::unordered_map<Channel, std::int32_t, ChannelHash> server_of_;
  std::vector<Server*> requested_;                                     // may have something to serve at this instant
  std::map<std::array<std::int64_t, 3>, std::vector<Place>> offloads_; // lane, segment, k
  std::map<std::int32_t, std::int32_t> lane_ranks_;                    // ranks that have a lane, by id
  std::vector<Resource> route_;

  std::vector<double> link_bytes_, reduced_;
  std::vector<char> waiting_;
};

} // namespace kumihimo::simulation
