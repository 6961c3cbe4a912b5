// Lanes of the exact simulation: their segments and rounds, what ranks compute, copy and reduce, and the clock.
#include "simulate/exact/events.hpp"

#include "simulate/models.hpp"
#include "simulate/offload.hpp"
#include "simulate/program_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kumihimo::simulation {

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
