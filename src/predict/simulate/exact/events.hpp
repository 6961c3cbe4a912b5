// The state of the exact simulation: lanes with segments in flight (events.cpp), messages in channels that serve in
// order (messages.cpp), and a clock.
#pragma once

#include "base/hash.hpp"
#include "base/result.hpp"
#include "program/binding.hpp"
#include "program/phases.hpp"
#include "program/segment_start.hpp"
#include "simulate/channel.hpp"
#include "simulate/exact/expanded_rounds.hpp"
#include "simulate/exact/fluid.hpp"
#include "simulate/prediction.hpp"

#include <array>
#include <deque>
#include <map>
#include <queue>
#include <unordered_map>

namespace kumihimo::simulation {

class Events {
 public:
  Events(const ProgramSet& schedule, const Network& network, const std::optional<Noise>& noise);
  Result<Prediction> run();

 private:
  struct StepPosition { // a step in progress
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
    StepPosition place;
    double bytes = 0;
    bool computes = false; // time of the processor alone; `bytes` are what it reduces in that time
  };
  struct LaneState {
    std::int32_t rank = 0;
    Lane* lane = nullptr;
    bool in_order = true; // see starts_in_order
    std::vector<ExpandedRound> rounds;
    std::optional<std::int64_t> next; // position behind them, if there are more to read
    std::vector<SegmentWait> waits;
    std::vector<Slot> slots;
    std::int64_t window = 1, started = 0, done = 0; // segments; all below `done` are complete
    double processor_free = 0, end = 0;             // to issue or take a message
    std::deque<Reduction> reductions;               // the first is under way
  };
  struct Message {
    Channel channel;
    std::int32_t server = -1; // of the channel
    StepPosition send, receive;
    std::int64_t bytes = 0, gap = 0;
    std::int64_t order = 0;  // of its send among all
    std::int32_t place = -1; // in early_, if it left before its receive
    Path path;
  };
  struct Early {
    std::int32_t message = -1; // that has arrived
    bool received = false;     // its receive has started,
    StepPosition receive;      // here
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
    StepPosition place;
    std::int64_t bytes = 0, gap = 0;
    std::int64_t order = 0;
    std::int32_t left = -1; // the place in early_ of a message that has left
  };
  struct Server { // of a channel, in order
    std::deque<Message> waiting;
    bool busy = false;
  };
  enum class Kind : std::uint8_t { issued, flow_end, gap_end, arrived, taken, step_end };
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
    StepPosition copying;       // if it is neither
  };

  void add_rank(std::int32_t rank);
  void wake(std::int32_t rank);
  bool may_begin(const LaneState& lane) const;
  bool read_on(LaneState& lane);
  void start_segment(std::int32_t lane);
  void start_rounds(std::int32_t lane, std::int64_t segment);
  void start_ready(std::int32_t lane, std::int64_t segment);
  void start_step(const ExpandedStep& step, const StepPosition& place);
  struct Wanted { // of a message
    std::int64_t peer = 0, bytes = 0, gap = 0;
  };
  void post(const ExpandedStep& step, const StepPosition& place, const Wanted& wanted);
  bool leaves_early(const Channel& channel, std::int64_t bytes) const;
  std::int32_t new_early();
  void enqueue(Message message);
  void receive_early(std::int32_t early, const StepPosition& place);
  void check_lengths(const Channel& channel, const Half& send, const Half& receive);
  void compute(const StepPosition& place, const Work& work);
  void copy(std::int32_t rank, const StepPosition& place, std::int64_t bytes);
  void offload(const StepPosition& place, std::int32_t k);
  void step_done(const StepPosition& place);
  bool end_round(std::int32_t lane, std::int64_t segment, std::int32_t round);
  void segment_done(std::int32_t lane, std::int64_t segment);
  void serve_requested();
  void serve(Server& server);
  Transfer transfer(const Channel& channel, std::int64_t bytes) const;
  Path append_path(const Message& message); // to route_
  void begin_flow(std::int32_t message);
  void start_fluid(const Running& running, std::span<const Resource> resources, double limit, double bytes,
                   double first_use = 1); // of the first resource, for each byte
  void flow_ended(std::int32_t flow);
  void release(Server& server);
  void arrive(std::int32_t message);
  void take(std::int32_t message);
  void reduce(std::int32_t lane, const Reduction& reduction);
  void begin_reduction(std::int32_t lane);
  double lost(std::int32_t rank, double start, double seconds) const;
  void step_at(double time, const StepPosition& place);
  void push(double time, Kind kind, std::int32_t index, std::uint32_t version = 0);
  void handle(const Event& event);
  Slot& slot(std::int32_t lane, std::int64_t segment) { return lanes_[lane].slots[segment % lanes_[lane].window]; }
  Prediction describe() const;

  const ProgramSet& schedule_;
  const Network& network_;
  const std::optional<Noise>& noise_;
  std::int64_t segments_ = 1;
  std::vector<Program> programs_;
  std::vector<Binding> bindings_;
  std::vector<LaneState> lanes_;
  std::vector<std::int32_t> first_lane_; // of each rank; one more at the end
  std::vector<std::int32_t> ready_;      // rounds to be started at once, the next one last
  bool waking_ = false;                  // a rank
  std::int64_t unfinished_ = 0;          // lanes
  Phases phases_;
  Lanes concurrency_ = Lanes::single;
  std::vector<char> many_peers_;          // by rank, see Network
  std::optional<std::int64_t> offloaded_; // bytes of the largest
  std::optional<Error> refused_;          // a compute step that the machine has no rate for, or unequal lengths

  double now_ = 0;
  std::int64_t order_ = 0, posted_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  Fluid fluid_;
  std::vector<Running> running_; // by flow
  std::vector<Message> messages_;
  std::vector<std::int32_t> free_messages_;
  std::vector<StepPosition> pending_places_; // of step_end events
  std::vector<std::int32_t> free_places_;
  std::unordered_map<MessageKey, std::deque<Half>, MessageKeyHash> sends_, receives_;
  std::vector<Early> early_;
  std::vector<std::int32_t> free_early_;
  std::deque<Server> servers_;
  std::unordered_map<Channel, std::int32_t, ChannelHash> server_of_;
  std::vector<Server*> requested_; // may have something to serve at this instant
  std::map<std::array<std::int64_t, 3>, std::vector<StepPosition>> offloads_; // lane, segment, k
  std::map<std::int32_t, std::int32_t> lane_ranks_;                           // ranks that have a lane, by id
  std::vector<Resource> route_;

  std::vector<double> link_bytes_, reduced_;
  std::vector<char> waiting_;
};

} // namespace kumihimo::simulation
