// Walks one segment of all ranks' programs together, level by level: a level is the set of messages whose two ends have
// both started, and its shares of the network are solved once. Memory is proportional to the steps in progress.
#pragma once

#include "simulate/flow/collapsed_loops.hpp"
#include "simulate/flow/compiled.hpp"
#include "simulate/flow/fair_shares.hpp"
#include "simulate/flow/matching.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

namespace kumihimo::simulation {

// What the first segment of one lane at one rank came to.
struct Outcome {
  PathTime start, first; // of the first segment
  PathTime total;        // of all segments; set once the phase's periods are known
  double busy = 0;       // seconds of one segment without waiting for others
};

// Messages of one segment that are worked off one after another, and the seconds that they take of that.
struct QueueLoad {
  std::int32_t instance = -1; // that sends
  double messages = 0, cost = 0, transfer = 0;
};

// What a phase put on the resources for one segment; nothing where there is no other segment.
struct Loads {
  std::vector<std::vector<double>> bytes;                   // [pipeline][resource]
  std::unordered_map<Channel, QueueLoad, NearHash> between; // of a lane between two ranks
  std::vector<QueueLoad> issued;                            // by instance: all that it sends
  std::vector<double> taken;                                // by instance: seconds that it takes what it receives
  bool some_early = false;                                  // see Network::leaves_early
  bool some_straddle = false; // of lengths that differ by an element, some are eager and some are not
  bool some_empty = false;    // of fewer elements than messages: some have none, and are not sent
  // Messages above the mean, by instance and part of the vector, in a segment that has an element of the part; of parts
  // that not every segment has an element of.
  std::map<std::pair<std::int32_t, std::int32_t>, double> bunched;
};

struct Traffic {
  std::vector<double> bytes;   // by resource, links first: of all segments and phases
  std::vector<char> waiting;   // links where messages met
  std::vector<double> reduced; // bytes reduced by each rank, all segments of this phase
};

class Sweep {
 public:
  // `compiled` changes as long lanes are read on, so that it can be walked once.
  Sweep(Compiled& compiled, const Network& network);

  // One segment of the lanes of a phase. Errors: messages that do not match.
  Status run(std::int32_t phase);

  std::vector<Outcome>& outcomes() { return outcomes_; } // by instance
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  const Loads& loads() const { return loads_; } // of the last phase
  Traffic& traffic() { return traffic_; }
  double meeting() const { return meeting_; } // seconds by which messages of later levels may lengthen the last phase
  std::int32_t pipeline(std::int32_t lane) const { return pipeline_[lane]; }

 private:
  // A position in a body: of a lane, or of one iteration of a loop.
  struct Frame {
    std::int32_t instance = 0, parent = -1, loop_set = -1, depth = 0;
    std::uint32_t node = 0, begin = 0, end = 0;
    std::int64_t pending = 0, iteration = 0, next_iteration = 0;
    double times = 1, weight = 1, busy = 0, round_busy = 0; // times, weight: see Posted
    PathTime now, next; // when the current node can start; the latest completion in it
  };
  struct Message { // or a local step, which is one to oneself
    Channel channel;
    std::int32_t instance = -1, sender = -1, receiver = -1; // that sends; the frames that are told, if any
    Matching::Entry* entry = nullptr;      // its queue, until it is consumed; none of a step that has no other end
    double times = 1, weight = 1, gap = 0; // see Posted
    bool whole_loop = false;               // all that the sender has in a collapsed loop
    double moved = 0, reduced = 0;         // bytes that flow, and those that are summed up then
    double shared_sum = 0;                 // see share_processors(); 0: the sum shares by rate
    bool early = false;                    // it leaves when its sender is ready
    bool computes = false;                 // `reduced` is time of the processor alone, and passes no memory
    Path path;
    double start = 0, start_doubt = 0; // of start_of(*this)
    double behind = 0;                 // that one before it keeps its queue occupied after both ends have started
    double wait = 0;                   // until its lane can issue it
    double doubt = 0;                  // seconds by which sharing lengthens it, but might not
    double meeting = 0;                // seconds by which messages of earlier levels may lengthen it
  };

  struct Spread { // of times
    double first = std::numeric_limits<double>::infinity(), last = -first;
    void add(double time) { first = std::min(first, time), last = std::max(last, time); }
    double length() const { return last - first; }
  };
  // When the slowed messages that use a resource begin and end, and when they begin if no doubt on their ways was
  // right: messages that seem to meet may each have been early by another time.
  struct ActiveInterval {
    Resource resource = 0;
    Spread starts, ends, early_starts;
    void add(double start, double end, double doubt) {
      starts.add(start), ends.add(end), early_starts.add(start - doubt);
    }
    double apart() const { return std::max({starts.length(), ends.length(), early_starts.length()}); }
  };
  // fn(presence, whether the sum of what arrives shares it)
  template <class F>
  void for_each_shared(std::size_t message, F&& fn) {
    for (const Resource r : flows_.of(message))
      if (shares_.users(r) > 1) fn(presence(r), false);
    const Message& m = messages_[message];
    if (m.reduced <= 0) return;
    const std::int32_t rank = m.channel.to, here = reductions_[rank], on_node = sums_on(rank);
    if (here > 1) fn(presence(network_.reducer(rank)), true);
    if (network_.sum_rate(rank, here, on_node, 0) < network_.sum_rate(rank, here, 1, 0))
      fn(presence(network_.memory(rank)), true);
  }
  ActiveInterval& presence(Resource r) {
    if (place_of_[r] < 0) {
      place_of_[r] = static_cast<std::int32_t>(presence_.size());
      presence_.push_back({r});
    }
    return presence_[place_of_[r]];
  }

  struct UnderWay {          // a message, or all messages of a level that use a resource
    float rate = 0, end = 0; // of all of them, and of the last; small, since each look at a resource is a cache miss
  };

  struct Busy { // a time during which a processor sums or computes without a break
    double begin = 0, end = 0;
    double overlap(const Busy& other) const { return std::min(end, other.end) - std::max(begin, other.begin); }
    // The next one: they take turns. Of two apart the later one is kept.
    void add(const Busy& other) {
      if (const double both = overlap(other); both > 0)
        *this = {std::min(begin, other.begin), std::max(end, other.end) + both};
      else if (other.end > end)
        *this = other;
    }
  };

  void begin_phase(std::int32_t phase);
  void start_lanes(std::int32_t phase);
  bool has_ended(std::int32_t rank, std::int32_t lane) const;
  void check_lengths(Matching::Entry& entry);
  void find_shared_resources(std::int32_t phase);
  std::int32_t make_frame(const Frame& frame);
  void advance(std::int32_t frame);
  bool read_on(std::int32_t frame);
  void start_round(std::int32_t frame, const FlatNode& node);
  void start_loop(std::int32_t frame, const FlatNode& node);
  void post(std::int32_t frame, const FlatStep& step);
  void local_step(std::int32_t frame, StepKind kind, double bytes);
  void offload_step(std::int32_t frame);
  void complete(std::int32_t frame, const PathTime& end, double busy);
  void finish(std::int32_t frame);
  void finish_iteration(std::int32_t frame);
  struct Window {                              // of a loop that has some of its iterations in flight
    std::vector<std::optional<PathTime>> ends; // of those that are complete while one before them is not
    std::int64_t done = 0;                     // all below are complete
    PathTime joined;                           // when they were
  };
  void end_in_window(std::int32_t frame, Window& window, std::int64_t walked);
  PathTime of_all_iterations(const PathTime& before, const PathTime& walked, const FlatNode& loop) const;
  void release_loop(std::int32_t member);
  bool release_stuck();
  double earliest() const;
  void finish_lane(std::int32_t instance);
  LoopValues values_of(std::int32_t frame) const;
  std::int32_t loop_around(std::int32_t frame) const;

  void take_messages();
  bool straddles(const Transfer& mean) const;
  double room_from(const Message& message, std::size_t first_resource) const;
  void carry();
  void fold_path(Message& message, std::size_t first_resource);
  void add_flow(const Message& message);
  void account();
  void account_sum(const Message& message);
  void account_queues(const Message& message);
  std::int32_t& sums_on(std::int32_t rank) { return sums_on_node_[network_.nodes()[rank]]; }
  void count_reductions();
  void deliver();
  void deliver_one(std::size_t at);
  double sum_rate(const Message& m, std::int32_t here, std::int32_t on_node) const;
  double sum_alone(const Message& m) const;
  double sum_seconds(const Message& m); // with what shares the processor in this level
  void share_processors();
  void add_sum(const Message& message, PathTime& arrived);
  void share_by_length();
  void find_doubts();
  bool alternates(const Message& message) const;
  bool find_overlaps();
  void find_busy_processors();
  void add_uses(const FlowSet& flows, const std::vector<UnderWay>& uses, std::optional<double> until);
  PathTime start_of(const Message& message) const; // until it is consumed
  double end_of(std::size_t message) const;
  // When its bytes begin to flow, the first of several messages at its start.
  static double flowing_from(const Message& m) { return m.start + m.wait + (m.times > 1 ? 0 : m.path.cost); }
  struct BusyInterval { // a time without a break during which a lane issues messages, or takes them
    double begin = 0, end = 0;
  };
  static double occupy(BusyInterval& busy, double start, double seconds);
  double issue(const Message& message);
  double take(const Message& message, double arrived);
  void connect_loops(std::int32_t a, std::int32_t b);
  Status finished(std::int32_t phase) const;

  Compiled& compiled_;
  const Network& network_;
  const double element_;               // bytes
  std::vector<std::int32_t> pipeline_; // of each lane
  std::vector<Outcome> outcomes_;
  std::vector<std::int32_t> blocked_; // by instance: lanes of this rank that it still waits for
  std::vector<char> done_;
  std::vector<double> crowd_;                  // by rank: bytes that it reduces for one segment of the phase
  double crowding_scale_ = 0;                  // one over the most of them
  std::vector<BusyInterval> issuing_, taking_; // by instance, the latest; messages are issued while none is taken
  Loads loads_;
  Traffic traffic_;

  std::vector<Frame> frames_;
  std::vector<std::int32_t> unused_, frontier_, current_;
  std::unordered_map<std::int32_t, Window> windows_; // by the frame that the loop is in
  Status wrong_ = Nothing{};                         // with the schedule, found on the way
  Matching matching_;
  LoopSets loops_;
  struct Offload {
    PathTime start;
    std::vector<std::int32_t> frames;
  };
  std::vector<std::vector<Offload>> offloads_; // [lane][k]
  std::vector<std::int32_t> offloads_of_;      // by instance: how many it has posted

  Lengths lengths_; // of steps that depend on iterated loops
  std::vector<Message> messages_, local_;
  FlowSet flows_;
  double shortest_ = 0, longest_ = 0; // bytes of messages of this level
  std::vector<Resource> sum_resources_;
  FairShares shares_;
  std::vector<std::pair<double, std::uint32_t>> by_length_; // bytes and message
  struct Sharing {                                          // of a resource, from its shortest message on
    Resource resource = 0;
    std::int32_t left = 0; // messages that are no shorter
    double shorter = 0;    // bytes of those that are
  };
  std::vector<Sharing> shortest_first_;
  std::vector<double> alone_; // by message: seconds that the most that it shares takes, were it all
  struct Slowed {             // a message that shares something full
    std::uint32_t message = 0;
    double seconds = 0; // by which that lengthens it
  };
  std::vector<Slowed> slowed_;
  std::vector<ActiveInterval> presence_; // of this level
  std::vector<std::int32_t> place_of_;   // by resource, in presence_ or shortest_first_; -1: none
  struct Levels {
    UnderWay before, here;  // the earlier level that ends last, and the latest
    std::int32_t level = 0; // the latest
  };
  std::vector<Levels> under_way_; // by resource; empty where there are several segments
  double under_way_until_ = 0;
  double meeting_ = 0;
  std::vector<double> carried_until_;           // by resource, seconds; empty where no message is eager
  std::int32_t level_ = 0;                      // whose uses were added last
  bool level_is_kept_ = false;                  // the level before this one, which is not in under_way_ yet
  FlowSet kept_flows_;                          // of it
  std::vector<UnderWay> uses_, kept_uses_;      // by message
  std::vector<std::uint32_t> meeting_messages_; // of this level, with those of earlier ones
  struct Processor {
    Busy before, here; // for earlier levels, and for the latest
    std::int32_t level = 0;
  };
  std::vector<Processor> processors_;                                // by rank; empty where there are several segments
  std::int32_t sums_level_ = 0;                                      // the latest
  std::vector<std::int32_t> reductions_;                             // by rank, in this level
  std::vector<std::pair<std::int32_t, std::uint32_t>> sums_by_rank_; // of share_processors()
  std::vector<std::int32_t> sums_on_node_;
  std::vector<std::uint32_t> last_flow_; // by link, in this phase
};

} // namespace kumihimo::simulation
