// The state of the exact simulation: lanes with segments in flight, channels that serve in order, and a clock.
#include "base/hash.hpp"
#include "base/result.hpp"
#include "program/binding.hpp"
#include "program/segment_start.hpp"
#include "simulate/channel.hpp"
#include "simulate/exact/expanded_rounds.hpp"
#include "simulate/exact/fluid.hpp"
#include "simulate/models.hpp"
#include "simulate/offload.hpp"
#include "simulate/phases.hpp"
#include "simulate/prediction.hpp"
#include "simulate/program_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <queue>

namespace kumihimo::simulation {

namespace {

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

} // namespace

Events::Events(const ProgramSet& schedule, const Network& network, const std::optional<Noise>& noise)
    : schedule_(schedule), network_(network), noise_(noise), segments_(schedule.segments.count),
      fluid_(network.capacities()), link_bytes_(static_cast<std::size_t>(network.link_bound())),
      reduced_(static_cast<std::size_t>(schedule.ranks())), waiting_(static_cast<std::size_t>(network.link_bound())) {
  programs_.reserve(static_cast<std::size_t>(schedule.ranks())); // lanes point into it
  for (std::int32_t rank = 0; rank < schedule.ranks(); ++rank) add_rank(rank);
  first_lane_.push_back(static_cast<std::int32_t>(lanes_.size()));
  phases_.find();
  if (phases_.has_concurrent_lanes()) concurrency_ = Lanes::concurrent;
  unfinished_ = static_cast<std::int64_t>(lanes_.size());
}

void Events::add_rank(std::int32_t rank) {
  first_lane_.push_back(static_cast<std::int32_t>(lanes_.size()));
  constexpr std::int64_t short_program = 1024; // steps; they are held
  const bool by_pieces = schedule_.reader && schedule_.reader->steps(Rank{rank}) > short_program;
  programs_.push_back(by_pieces ? schedule_.reader->outline(Rank{rank}) : schedule_.program(Rank{rank}));
  phases_.add(programs_.back());
  offloaded_ = std::max(offloaded_, largest_offload(schedule_, Rank{rank}, programs_.back())); // none is least
  bindings_.emplace_back(schedule_, Rank{rank});
  many_peers_.push_back(network_.has_many_peers(programs_.back()));
  auto waits = waits_of(programs_.back(), schedule_.segments);
  for (std::size_t l = 0; l < waits.size(); ++l) {
    Lane& lane = programs_.back().lanes[l];
    LaneState state;
    state.waits = std::move(waits[l]);
    state.rank = rank;
    state.lane = &lane, state.in_order = starts_in_order(lane.body);
    if (by_pieces) {
      state.next = 0;
      read_on(state);
    } else {
      state.rounds = expand(lane);
    }
    state.window = std::clamp<std::int64_t>(lane.window, 1, segments_);
    state.slots.resize(static_cast<std::size_t>(state.window));
    lanes_.push_back(std::move(state));
    ++lane_ranks_[lane.id.value];
  }
}

bool Events::may_begin(const LaneState& lane) const {
  const std::int32_t first = first_lane_[lane.rank];
  return may_start(
      {lane.started, lane.done, lane.window}, segments_, lane.waits,
      [&](std::int32_t other) { return lanes_[first + other].done == segments_; },
      [&](std::int32_t other, std::int64_t segment) {
        const LaneState& of = lanes_[first + other];
        return segment < of.done || (segment < of.started && of.slots[segment % of.window].complete);
      });
}

// Starts all segments of this rank's lanes that may start. Those that are complete at once ask for it again: the call
// under way sees to them, however many there are.
void Events::wake(std::int32_t rank) {
  if (waking_) return;
  waking_ = true;
  for (bool again = true; again;) {
    again = false;
    for (std::int32_t l = first_lane_[rank]; l < first_lane_[rank + 1]; ++l)
      while (may_begin(lanes_[l])) {
        start_segment(l);
        again = true;
      }
  }
  waking_ = false;
}

// Replaces the rounds of a long lane by the next ones. False: there are no more.
bool Events::read_on(LaneState& lane) {
  constexpr std::int64_t steps = 256; // at a time
  while (lane.next) {
    RoundPiece piece = schedule_.reader->piece(Rank{lane.rank}, lane.lane->id, *lane.next, steps);
    lane.next = piece.next;
    lane.lane->body.assign(std::make_move_iterator(piece.rounds.begin()), std::make_move_iterator(piece.rounds.end()));
    lane.rounds = expand(*lane.lane);
    if (!lane.rounds.empty()) return true;
  }
  return false;
}

void Events::start_segment(std::int32_t l) {
  LaneState& lane = lanes_[l];
  const std::int64_t segment = lane.started++;
  slot(l, segment).complete = false;
  if (lane.rounds.empty()) return segment_done(l, segment);
  start_rounds(l, segment);
  start_ready(l, segment);
}

// Those that wait for no other are ready.
void Events::start_rounds(std::int32_t l, std::int64_t segment) {
  const LaneState& lane = lanes_[l];
  Slot& s = slot(l, segment);
  s.rounds_left = static_cast<std::int64_t>(lane.rounds.size());
  s.waits_for.resize(lane.rounds.size()), s.steps_left.resize(lane.rounds.size());
  for (std::size_t r = 0; r < lane.rounds.size(); ++r) {
    s.waits_for[r] = lane.rounds[r].waits_for;
    s.steps_left[r] = static_cast<std::int32_t>(lane.rounds[r].steps.size());
  }
  for (std::size_t r = lane.rounds.size(); r-- > 0;)
    if (lane.rounds[r].waits_for == 0) ready_.push_back(static_cast<std::int32_t>(r));
}

// Rounds without steps are complete at once, and those behind them ready: a loop may have millions of them.
void Events::start_ready(std::int32_t l, std::int64_t segment) {
  while (!ready_.empty()) {
    const std::int32_t round = ready_.back();
    ready_.pop_back();
    const auto& steps = lanes_[l].rounds[round].steps;
    if (!steps.empty())
      for (const ExpandedStep& step : steps) start_step(step, {l, round, segment, step.step->kind});
    else if (end_round(l, segment, round))
      return segment_done(l, segment);
  }
}

void Events::start_step(const ExpandedStep& expanded, const StepPosition& place) {
  const Step& step = *expanded.step;
  const std::int32_t rank = lanes_[place.lane].rank;
  auto values = expanded.values;
  values[0] = place.segment;
  std::int64_t bytes = 0;
  if (step.has_data()) {
    bytes = bindings_[rank].length(step.extent(), values) * schedule_.data->type_bytes;
    if (bytes == 0) return step_at(now_, place);
  }
  switch (step.kind) {
  case StepKind::copy: return copy(rank, place, bytes);
  case StepKind::reduce: return reduce(place.lane, {place, static_cast<double>(bytes)});
  case StepKind::compute: return compute(place, step.work);
  case StepKind::offload: return offload(place, expanded.offload);
  default: return post(expanded, place, {step.peer.evaluate(values), bytes, expanded.gap->evaluate(values)});
  }
}

// On the processor that reduces: it takes the time of a reduction of an equivalent number of bytes.
void Events::compute(const StepPosition& place, const Work& work) {
  const std::int32_t rank = lanes_[place.lane].rank;
  if (Status can = network_.can_compute(work); !can) refused_ = can.error();
  const double seconds = refused_ ? 0 : network_.seconds_of(work, rank);
  if (seconds <= 0) return step_at(now_, place);
  reduce(place.lane, {place, seconds * network_.reduction_rate(rank), true});
}

void Events::copy(std::int32_t rank, const StepPosition& place, std::int64_t bytes) {
  route_.clear();
  network_.append_copy(rank, route_);
  start_fluid({-1, -1, place}, route_, network_.copy_rate(rank), static_cast<double>(bytes));
}

void Events::offload(const StepPosition& place, std::int32_t k) {
  const std::int32_t id = lanes_[place.lane].lane->id.value;
  auto& all = offloads_[{id, place.segment, k}];
  all.push_back(place);
  if (static_cast<std::int32_t>(all.size()) < lane_ranks_[id]) return;
  const double t = network_.offload_seconds(static_cast<std::int64_t>(all.size()));
  for (const StepPosition& p : all) step_at(now_ + t, p);
}

void Events::post(const ExpandedStep& step, const StepPosition& place, const Wanted& wanted) {
  const std::int32_t rank = lanes_[place.lane].rank, id = lanes_[place.lane].lane->id.value,
                     other = static_cast<std::int32_t>(wanted.peer);
  const bool sending = step.step->sends();
  if (wanted.peer < 0 || wanted.peer >= schedule_.ranks()) return; // waits for ever
  const Channel channel = sending ? Channel{id, rank, other} : Channel{id, other, rank};
  const MessageKey key{channel, place.segment};
  auto& theirs = sending ? receives_ : sends_;
  const auto found = theirs.find(key);
  if (found == theirs.end()) {
    Half& half = (sending ? sends_ : receives_)[key].emplace_back(Half{place, wanted.bytes, wanted.gap, posted_++, -1});
    if (!sending || !leaves_early(channel, wanted.bytes)) return;
    half.left = new_early();
    return enqueue({channel, -1, place, {}, wanted.bytes, wanted.gap, half.order, half.left, {}});
  }
  const Half half = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) theirs.erase(found);
  if (wanted.bytes != half.bytes)
    sending ? check_lengths(channel, {place, wanted.bytes}, half) : check_lengths(channel, half, {place, wanted.bytes});
  if (half.left >= 0) return receive_early(half.left, place);
  Message m;
  m.channel = channel;
  m.send = sending ? place : half.place;
  m.receive = sending ? half.place : place;
  m.bytes = wanted.bytes;
  m.gap = sending ? wanted.gap : half.gap;
  m.order = sending ? posted_++ : half.order;
  enqueue(m);
}

bool Events::leaves_early(const Channel& channel, std::int64_t bytes) const {
  return network_.leaves_early(static_cast<double>(bytes)) || network_.is_eager(transfer(channel, bytes));
}

std::int32_t Events::new_early() {
  if (free_early_.empty()) {
    early_.emplace_back();
    return static_cast<std::int32_t>(early_.size()) - 1;
  }
  const std::int32_t at = free_early_.back();
  free_early_.pop_back();
  early_[at] = {};
  return at;
}

void Events::enqueue(Message m) {
  const auto [known, fresh] = server_of_.try_emplace(m.channel, static_cast<std::int32_t>(servers_.size()));
  if (fresh) servers_.emplace_back();
  m.server = known->second;
  Server& server = servers_[m.server];
  server.waiting.push_back(m);
  requested_.push_back(&server);
}

void Events::check_lengths(const Channel& channel, const Half& send, const Half& receive) {
  const bool data = send.bytes > 0 && receive.bytes > 0;
  if (!data || !lanes_[send.place.lane].in_order || !lanes_[receive.place.lane].in_order || refused_) return;
  const std::int64_t each = schedule_.data->type_bytes;
  refused_ = unequal_lengths({channel.from, channel.to, channel.lane, send.bytes / each, receive.bytes / each});
}

// All that starts at one instant is issued in the order of its sends, whichever end was handled first.
void Events::serve_requested() {
  std::erase_if(requested_, [](const Server* s) { return s->busy || s->waiting.empty(); });
  std::sort(requested_.begin(), requested_.end(),
            [](const Server* a, const Server* b) { return a->waiting.front().order < b->waiting.front().order; });
  for (Server* server : requested_) serve(*server);
  requested_.clear();
}

// One message of a lane between two ranks at a time; the lane issues its messages one after another.
void Events::serve(Server& server) {
  if (server.busy || server.waiting.empty()) return; // asked for twice
  server.busy = true;
  std::int32_t at = static_cast<std::int32_t>(messages_.size());
  if (free_messages_.empty())
    messages_.emplace_back();
  else
    at = free_messages_.back(), free_messages_.pop_back();
  Message& m = messages_[at] = server.waiting.front();
  server.waiting.pop_front();
  route_.clear();
  m.path = append_path(m);
  LaneState& sender = lanes_[m.send.lane];
  double issued = now_;
  if (m.path.cost > 0) {
    const double begin = std::max(now_, sender.processor_free);
    issued = sender.processor_free = begin + m.path.cost + lost(sender.rank, begin, m.path.cost);
  }
  push(issued, Kind::issued, at);
}

Transfer Events::transfer(const Channel& channel, std::int64_t bytes) const {
  const auto& [lane, from, to] = channel;
  const bool many_peers = many_peers_[from] != 0 || many_peers_[to] != 0;
  return {from, to, static_cast<double>(bytes), concurrency_, many_peers};
}

Path Events::append_path(const Message& m) {
  Transfer t = transfer(m.channel, m.bytes);
  t.summed = m.receive.kind == StepKind::receive_reduce;
  return network_.append_path(t, route_);
}

void Events::begin_flow(std::int32_t at) {
  Message& m = messages_[at];
  route_.clear();
  append_path(m);
  if (m.bytes == 0) route_.clear(); // a signal
  for (const Resource r : route_) {
    if (!network_.is_link(r)) continue;
    link_bytes_[r] += static_cast<double>(m.bytes);
    if (fluid_.users(r) > 0) waiting_[r] = 1;
  }
  start_fluid({at, -1, {}}, route_, m.path.limit, static_cast<double>(m.bytes));
}

void Events::start_fluid(const Running& running, std::span<const Resource> resources, double limit, double bytes,
                         double first_use) {
  const auto flow = fluid_.start(now_, resources, limit, bytes, first_use);
  if (static_cast<std::size_t>(flow) >= running_.size()) running_.resize(static_cast<std::size_t>(flow) + 1);
  running_[flow] = running;
}

// A lane's reductions at a rank are done one after another, as they become possible; lanes share the thread.
void Events::reduce(std::int32_t l, const Reduction& reduction) {
  LaneState& lane = lanes_[l];
  reduced_[lane.rank] += reduction.bytes * (reduction.computes ? 1 : network_.slowdown(reduction.bytes));
  lane.reductions.push_back(reduction);
  if (lane.reductions.size() == 1) begin_reduction(l);
}

void Events::begin_reduction(std::int32_t l) {
  const LaneState& lane = lanes_[l];
  route_.clear();
  if (lane.reductions.front().computes)
    route_.push_back(network_.reducer(lane.rank));
  else
    network_.append_sum(lane.rank, route_);
  const bool computes = lane.reductions.front().computes;
  double bytes = lane.reductions.front().bytes;
  const double slowdown = computes ? 1 : network_.slowdown(bytes); // of the reducer, which comes first
  const double rate = network_.reduction_rate(lane.rank) / slowdown;
  // What does not depend on the length takes the time of an equivalent number of bytes.
  if (!computes) bytes += network_.reduction_cost(lane.rank) * rate;
  start_fluid({-1, l, {}}, route_, rate, bytes + lost(lane.rank, now_, bytes / rate) * rate, slowdown);
}

double Events::lost(std::int32_t rank, double start, double seconds) const {
  return noise_ ? seconds_lost(*noise_, rank, start, seconds) : 0;
}

void Events::flow_ended(std::int32_t flow) {
  fluid_.end(flow);
  const Running running = running_[flow];
  if (running.reducing >= 0) {
    auto& queue = lanes_[running.reducing].reductions;
    const Reduction done = queue.front();
    queue.pop_front();
    if (!queue.empty()) begin_reduction(running.reducing);
    return step_done(done.place);
  }
  if (running.message < 0) return step_done(running.copying);
  const Message m = messages_[running.message];
  push(now_ + m.path.latency, Kind::arrived, running.message);
  if (m.gap == 0)
    release(servers_[m.server]);
  else
    push(now_ + static_cast<double>(m.gap) / m.path.limit, Kind::gap_end, m.server);
  step_done(m.send);
}

void Events::release(Server& server) {
  server.busy = false;
  requested_.push_back(&server);
}

void Events::receive_early(std::int32_t early, const StepPosition& place) {
  early_[early].received = true, early_[early].receive = place;
  if (early_[early].message >= 0) arrive(early_[early].message);
}

// The receiving lane takes one message after another.
void Events::arrive(std::int32_t at) {
  Message& m = messages_[at];
  if (m.place >= 0) {
    Early& early = early_[m.place];
    early.message = at;
    if (!early.received) return;
    m.receive = early.receive;
    free_early_.push_back(m.place);
  }
  if (m.path.taking <= 0) return take(at);
  LaneState& receiver = lanes_[m.receive.lane];
  const double begin = std::max(now_, receiver.processor_free);
  receiver.processor_free = begin + m.path.taking + lost(receiver.rank, begin, m.path.taking);
  push(receiver.processor_free, Kind::taken, at);
}

void Events::take(std::int32_t at) {
  const Message m = messages_[at];
  free_messages_.push_back(at);
  if (m.receive.kind == StepKind::receive_reduce)
    return reduce(m.receive.lane, {m.receive, static_cast<double>(m.bytes)});
  step_done(m.receive);
}

void Events::step_at(double time, const StepPosition& place) {
  std::int32_t at = static_cast<std::int32_t>(pending_places_.size());
  if (free_places_.empty())
    pending_places_.push_back(place);
  else
    at = free_places_.back(), free_places_.pop_back(), pending_places_[at] = place;
  push(time, Kind::step_end, at);
}

void Events::step_done(const StepPosition& place) {
  if (--slot(place.lane, place.segment).steps_left[place.round] > 0) return;
  if (end_round(place.lane, place.segment, place.round)) return segment_done(place.lane, place.segment);
  start_ready(place.lane, place.segment);
}

// The rounds behind it may be ready; true if there are none left.
bool Events::end_round(std::int32_t l, std::int64_t segment, std::int32_t round) {
  Slot& s = slot(l, segment);
  const auto& next = lanes_[l].rounds[round].next;
  for (auto at = next.rbegin(); at != next.rend(); ++at)
    if (--s.waits_for[*at] == 0) ready_.push_back(*at);
  if (--s.rounds_left > 0) return false;
  if (!read_on(lanes_[l])) return true;
  start_rounds(l, segment);
  return false;
}

void Events::segment_done(std::int32_t l, std::int64_t segment) {
  slot(l, segment).complete = true;
  LaneState& lane = lanes_[l];
  while (lane.done < lane.started && slot(l, lane.done).complete) {
    slot(l, lane.done).complete = false;
    ++lane.done;
  }
  if (lane.done == segments_) lane.end = now_, --unfinished_;
  wake(lane.rank);
}

void Events::push(double time, Kind kind, std::int32_t index, std::uint32_t version) {
  queue_.push({time, order_++, kind, index, version});
}

void Events::handle(const Event& event) {
  switch (event.kind) {
  case Kind::issued: return begin_flow(event.index);
  case Kind::flow_end:
    if (fluid_.version(event.index) == event.version) flow_ended(event.index);
    return;
  case Kind::gap_end: return release(servers_[event.index]);
  case Kind::arrived: return arrive(event.index);
  case Kind::taken: return take(event.index);
  case Kind::step_end: {
    const StepPosition place = pending_places_[event.index];
    free_places_.push_back(event.index);
    return step_done(place);
  }
  }
}

Result<Prediction> Events::run() {
  if (Status can = network_.can_offload(*schedule_.data, offloaded_); !can) return can.error();
  for (std::int32_t rank = 0; rank < schedule_.ranks(); ++rank) wake(rank);
  const auto reschedule = [&] {
    serve_requested();
    fluid_.update(now_, [&](Fluid::FlowId flow, double rest, std::uint32_t version) {
      push(now_ + rest, Kind::flow_end, flow, version);
    });
  };
  reschedule();
  while (!queue_.empty()) {
    now_ = std::max(now_, queue_.top().time);
    const double instant = now_ * (1 + 1e-12) + 1e-18; // one instant but for rounding
    while (!queue_.empty() && queue_.top().time <= instant) {
      const Event event = queue_.top();
      queue_.pop();
      handle(event);
    }
    reschedule();
  }
  if (refused_) return *refused_;
  if (unfinished_ > 0) return does_not_end(unfinished_);
  return describe();
}

Prediction Events::describe() const {
  Prediction p;
  p.model = Model::exact;
  for (std::int32_t i = 0; i < phases_.count(); ++i) p.phases.emplace_back().name = phases_.name(i);
  std::vector<double> ends(p.phases.size());
  for (const LaneState& lane : lanes_) {
    double& end = ends[phases_.phase(phases_.index_of(lane.lane->id))];
    end = std::max(end, lane.end);
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    p.phases[i].seconds = {std::max(0.0, ends[i] - p.seconds.value)};
    p.seconds = {std::max(p.seconds.value, ends[i])};
  }
  for (std::int32_t r = 0; r < schedule_.ranks(); ++r)
    p.compute = {std::max(p.compute.value, reduced_[r] / network_.reduction_rate(r))};
  network_.add_setup(concurrency_, p);
  p.links = network_.machine().topology->links();
  std::int64_t waiting = 0;
  for (std::size_t l = 0; l < link_bytes_.size(); ++l) {
    p.link_bytes_sum += link_bytes_[l];
    p.link_bytes_max = std::max(p.link_bytes_max, link_bytes_[l]);
    waiting += waiting_[l];
  }
  p.links_waiting_share = p.links == 0 ? 0 : static_cast<double>(waiting) / static_cast<double>(p.links);
  p.link_bytes = link_bytes_;
  return p;
}

Result<Prediction> predict_exact(const ProgramSet& schedule, const Network& network,
                                 const std::optional<Noise>& noise) {
  if (schedule.ranks() > exact_rank_limit)
    return wrong_value(fmt::format("the exact model takes at most {} ranks", exact_rank_limit), schedule.ranks(),
                       "use the flow model");
  Events events(schedule, network, noise);
  return events.run();
}

} // namespace kumihimo::simulation
