// The walk: rounds, loops and lanes. What a level costs is in level.cpp.
#include "simulate/flow/sweep.hpp"

#include "simulate/flow/symmetry.hpp"
#include "simulate/program_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kumihimo::simulation {
namespace {
constexpr std::int32_t most_pipelines = 16; // beyond, all lanes of a phase keep one pace
}

Sweep::Sweep(Compiled& compiled, const Network& network)
    : compiled_(compiled), network_(network), element_(static_cast<double>(compiled.schedule->data->type_bytes)),
      outcomes_(compiled.instances.size()), blocked_(compiled.instances.size()), done_(compiled.instances.size()),
      issuing_(compiled.instances.size()), taking_(compiled.instances.size()), offloads_(compiled.lanes.size()),
      offloads_of_(compiled.instances.size()), lengths_(*compiled.schedule->data, compiled.segments),
      shares_(network.capacities()), place_of_(network.capacities().size(), -1),
      reductions_(static_cast<std::size_t>(compiled.schedule->ranks())),
      sums_on_node_(static_cast<std::size_t>(network.machine().topology->nodes())) {
  matching_.reserve(std::max(2 * compiled.instances.size(), static_cast<std::size_t>(compiled.steps_at_once())));
  for (const FlatLane& lane : compiled.lanes)
    pipeline_.push_back(compiled.phases.groups() <= most_pipelines ? lane.group : 0);
  traffic_.bytes.assign(network.capacities().size(), 0);
  traffic_.waiting.assign(static_cast<std::size_t>(network.link_bound()), 0);
}

void Sweep::begin_phase(std::int32_t phase) {
  const std::size_t pipelines = compiled_.phases.groups() <= most_pipelines ? compiled_.phases.groups() : 1;
  loads_.between.clear(), loads_.issued.clear(), loads_.taken.clear(), loads_.bunched.clear(),
      loads_.some_empty = false;
  loads_.some_early = false;
  if (compiled_.segments > 1) {
    loads_.issued.resize(compiled_.instances.size()), loads_.taken.resize(compiled_.instances.size());
    loads_.between.reserve(compiled_.instances.size());
  }
  loads_.bytes.assign(pipelines, {});
  if (compiled_.segments > 1)
    for (const FlatLane& lane : compiled_.lanes)
      if (lane.phase == phase)
        loads_.bytes[pipeline_[&lane - compiled_.lanes.data()]].resize(network_.capacities().size());
  traffic_.reduced.assign(reductions_.size(), 0);
  last_flow_.assign(compiled_.segments > 1 ? static_cast<std::size_t>(network_.link_bound()) : 0, 0);
  under_way_.assign(compiled_.segments > 1 ? 0 : network_.capacities().size(), {}), under_way_until_ = meeting_ = 0;
  level_is_kept_ = false;
  carried_until_.assign(network_.has_eager() ? network_.capacities().size() : 0, 0);
  processors_.assign(compiled_.segments > 1 ? 0 : reductions_.size(), {});
  frames_.clear(), unused_.clear(), windows_.clear(), loops_.clear(), matching_.clear();
}

// How much longer a reduction takes, as a part of its own time, in a full pipeline: behind everything else that its
// rank reduces for one segment. Ranks with less to do than the busiest are that much less likely to be at it.
void Sweep::find_shared_resources(std::int32_t phase) {
  crowd_.assign(reductions_.size(), 0);
  for (const Instance& i : compiled_.instances)
    if (compiled_.lanes[i.lane].phase == phase) crowd_[i.rank] += i.reduced;
  const double busiest = crowd_.empty() ? 0 : *std::max_element(crowd_.begin(), crowd_.end());
  crowding_scale_ = busiest > 0 ? 1 / busiest : 0;
}

// Lanes whose predecessors are all of earlier phases start; the others wait for lanes of this one.
void Sweep::start_lanes(std::int32_t phase) {
  for (std::size_t i = 0; i < compiled_.instances.size(); ++i) {
    const Instance& instance = compiled_.instances[i];
    if (compiled_.lanes[instance.lane].phase != phase) continue;
    for (const FlatAfter& after : compiled_.after(instance)) {
      const std::uint32_t begin = compiled_.first_instance[instance.rank],
                          end = compiled_.first_instance[instance.rank + 1];
      for (std::uint32_t other = begin; other < end; ++other) {
        if (compiled_.instances[other].lane != after.lane) continue;
        if (compiled_.lanes[after.lane].phase == phase)
          ++blocked_[i];
        else
          outcomes_[i].start = later(outcomes_[i].start, outcomes_[other].total);
      }
    }
    if (blocked_[i] == 0) {
      Frame f;
      f.instance = static_cast<std::int32_t>(i);
      f.node = f.begin = instance.first_node, f.end = instance.first_node + instance.nodes;
      f.now = outcomes_[i].start;
      frontier_.push_back(make_frame(f));
    }
  }
}

Status Sweep::run(std::int32_t phase) {
  begin_phase(phase);
  if (compiled_.segments > 1) find_shared_resources(phase);
  start_lanes(phase);
  do {
    while (!frontier_.empty() || matching_.any_ready()) {
      current_.swap(frontier_);
      for (const std::int32_t f : current_) advance(f);
      current_.clear();
      take_messages();
      shares_.solve(flows_);
      account();
      deliver();
      if (!matching_.has_stale_queues()) continue;
      const double now = earliest();
      matching_.forget([&](const Occupied& o) { return o.until + loops_.rest(o.loop) <= now; });
    }
  } while (release_stuck());
  return finished(phase);
}

std::int32_t Sweep::make_frame(const Frame& frame) {
  if (unused_.empty()) return frames_.push_back(frame), static_cast<std::int32_t>(frames_.size()) - 1;
  const std::int32_t at = unused_.back();
  unused_.pop_back();
  frames_[at] = frame;
  return at;
}

void Sweep::advance(std::int32_t f) {
  while (frames_[f].node == frames_[f].end)
    if (!read_on(f)) return finish(f);
  const FlatNode& node = compiled_.nodes[frames_[f].node];
  frames_[f].next = frames_[f].now;
  frames_[f].round_busy = 0;
  if (node.loop)
    start_loop(f, node);
  else
    start_round(f, node);
}

// Whether there are more rounds of a long lane.
bool Sweep::read_on(std::int32_t f) {
  Frame& frame = frames_[f];
  Instance& instance = compiled_.instances[frame.instance];
  if (instance.long_lane < 0 || !compiled_.long_lanes[instance.long_lane].next) return false;
  compiled_.read_on(compiled_, instance);
  frame.node = frame.begin = instance.first_node, frame.end = instance.first_node + instance.nodes;
  return true;
}

void Sweep::start_round(std::int32_t f, const FlatNode& node) {
  frames_[f].pending = node.count;
  for (std::uint32_t s = node.first; s < node.first + node.count; ++s) post(f, compiled_.steps[s]);
}

LoopValues Sweep::values_of(std::int32_t f) const {
  LoopValues values{};
  for (; f >= 0; f = frames_[f].parent) {
    const Frame& frame = frames_[f];
    const FlatNode* const loop = frame.parent < 0 ? nullptr : &compiled_.nodes[frames_[frame.parent].node];
    values[frame.depth] = loop != nullptr && loop->sample >= 0
                              ? compiled_.samples[loop->sample].iterations[static_cast<std::size_t>(frame.iteration)]
                              : frame.iteration;
  }
  return values;
}

// The innermost collapsed loop that the frame is in, as its member there; -1 without.
std::int32_t Sweep::loop_around(std::int32_t f) const {
  while (f >= 0 && frames_[f].loop_set < 0) f = frames_[f].parent;
  return f < 0 ? -1 : frames_[f].loop_set;
}

void Sweep::post(std::int32_t f, const FlatStep& step) {
  const Frame& frame = frames_[f];
  const Instance& instance = compiled_.instances[frame.instance];
  std::int64_t to = step.peer;
  double bytes = step.bytes, gap = step.gap;
  std::int32_t part = step.part;
  if (step.dynamic >= 0) {
    const DynamicStep& dynamic = compiled_.dynamic[step.dynamic];
    const auto values = values_of(f);
    to = dynamic.peer.evaluate(values);
    gap = static_cast<double>(dynamic.gap.evaluate(values));
    if (dynamic.length) {
      bytes = lengths_.mean_bytes(dynamic.length->extent, instance.rank, values, dynamic.length->collapsed);
      if (compiled_.segments > 1 && bytes < element_) part = first_part(dynamic.length->extent, values);
    }
    const bool data = step.kind != StepKind::signal && step.kind != StepKind::wait_signal;
    if (data && bytes <= 0) return complete(f, frame.now, 0);
  }
  switch (step.kind) {
  case StepKind::copy:
  case StepKind::reduce:
  case StepKind::compute: return local_step(f, step.kind, bytes);
  case StepKind::offload: return offload_step(f);
  default: break;
  }
  if (to < 0 || to >= compiled_.schedule->ranks()) {
    wrong_ = failed("all peers must be ranks", fmt::format("peer {} at rank {}", to, instance.rank), verify_it);
    return;
  }
  const auto peer = static_cast<std::int32_t>(to);
  if (const std::int32_t member = loop_around(f); member >= 0) {
    const bool data = step.kind != StepKind::signal && step.kind != StepKind::wait_signal;
    const auto element = static_cast<double>(compiled_.schedule->data->type_bytes);
    for (std::int32_t m = member; m >= 0; m = loops_.around(m)) loops_.fill(m, data ? bytes / element : 1);
  }
  const Posted posted{bytes, gap, frame.times, frame.weight, f, frame.instance, step.kind, step.exact};
  const Symmetry* const symmetry = compiled_.symmetry.get();
  if (step.kind == StepKind::send && part >= 0 && bytes < element_ && compiled_.segments > 1)
    loads_.bunched[{frame.instance, part}] += frame.times * frame.weight * (1 - bytes / element_);
  if (step.kind == StepKind::send || step.kind == StepKind::signal)
    matching_.post({instance.lane, instance.rank, peer}, Matching::sends, frame.now, posted);
  else if (symmetry == nullptr)
    matching_.post({instance.lane, peer, instance.rank}, Matching::receives, frame.now, posted);
  else // what its sender's first sends is the image of what this receives
    matching_.post({instance.lane, symmetry->first(peer), symmetry->moved(instance.rank, peer)}, Matching::receives,
                   frame.now, posted);
}

// Runs beside the messages of its level: see take_messages.
void Sweep::local_step(std::int32_t f, StepKind kind, double bytes) {
  const Frame& frame = frames_[f];
  const Instance& instance = compiled_.instances[frame.instance];
  Message m;
  m.instance = frame.instance, m.sender = f;
  m.weight = frame.weight;
  m.channel = {instance.lane, instance.rank, instance.rank};
  m.times = frame.times;
  m.start = frame.now.seconds, m.start_doubt = frame.now.doubt;
  (kind == StepKind::copy ? m.moved : m.reduced) = bytes;
  m.computes = kind == StepKind::compute;
  m.path.limit = network_.copy_rate(instance.rank);
  local_.push_back(m);
}

// The network's own engine: all ranks that have the lane take part, the k-th call of each.
void Sweep::offload_step(std::int32_t f) {
  const Frame& frame = frames_[f];
  const std::int32_t lane = compiled_.instances[frame.instance].lane, k = offloads_of_[frame.instance]++;
  if (static_cast<std::int32_t>(offloads_[lane].size()) <= k) offloads_[lane].resize(static_cast<std::size_t>(k) + 1);
  Offload& call = offloads_[lane][k];
  call.start = call.frames.empty() ? frame.now : later(call.start, frame.now);
  call.frames.push_back(f);
  if (static_cast<std::int32_t>(call.frames.size()) < compiled_.lanes[lane].instances) return;
  const double t = network_.offload_seconds(static_cast<std::int64_t>(call.frames.size()));
  const PathTime end = call.start.plus_latency(t);
  const auto frames = std::move(call.frames);
  for (const std::int32_t member : frames) complete(member, end, t);
}

void Sweep::start_loop(std::int32_t f, const FlatNode& node) {
  Frame child;
  child.instance = frames_[f].instance;
  child.parent = f;
  child.depth = frames_[f].depth + 1;
  child.node = child.begin = node.first, child.end = node.first + node.count;
  child.times = frames_[f].times;
  child.weight = frames_[f].weight * compiled_.times(node);
  child.now = node.sample < 0 ? frames_[f].now : frames_[f].now.entering();
  if (node.collapsed) {
    child.times *= static_cast<double>(node.trip);
    child.loop_set = loops_.enter(loop_around(f));
    frames_[f].pending = 1;
    return advance(make_frame(child));
  }
  const std::int64_t at_once = compiled_.at_once(node);
  frames_[f].pending = compiled_.walked(node);
  frames_[f].next_iteration = at_once;
  if (at_once > 1 && at_once < compiled_.walked(node)) {
    windows_[f] = {};
    windows_[f].ends.resize(static_cast<std::size_t>(at_once));
  }
  for (std::int64_t i = 0; i < at_once; ++i) {
    child.iteration = i;
    advance(make_frame(child));
  }
}

// One step of the frame's round is done.
void Sweep::complete(std::int32_t f, const PathTime& end, double busy) {
  Frame& frame = frames_[f];
  frame.next = later(frame.next, end);
  frame.round_busy = std::max(frame.round_busy, busy);
  if (--frame.pending > 0) return;
  frame.busy += frame.round_busy;
  const FlatNode& node = compiled_.nodes[frame.node];
  frame.now = node.sample < 0 ? frame.next : of_all_iterations(frame.now, frame.next, node);
  ++frame.node;
  frontier_.push_back(f);
}

void Sweep::finish(std::int32_t f) {
  Frame& frame = frames_[f];
  if (frame.parent < 0) {
    Outcome& o = outcomes_[frame.instance];
    o.first = frame.now, o.busy = frame.busy;
    const std::int32_t instance = frame.instance;
    unused_.push_back(f);
    return finish_lane(instance);
  }
  if (frame.loop_set < 0) return finish_iteration(f);
  const FlatNode& loop = compiled_.nodes[frames_[frame.parent].node];
  if (loops_.arrive(frame.loop_set, frame.busy / static_cast<double>(loop.in_flight), f)) release_loop(frame.loop_set);
}

void Sweep::finish_iteration(std::int32_t f) {
  const std::int32_t parent = frames_[f].parent;
  const FlatNode& loop = compiled_.nodes[frames_[parent].node];
  const PathTime end = frames_[f].now;
  const double busy = frames_[f].busy;
  frames_[parent].busy += busy / static_cast<double>(loop.in_flight) * compiled_.times(loop);
  const std::int64_t at_once = compiled_.at_once(loop), walked = compiled_.walked(loop);
  if (at_once > 1 && at_once < walked) {
    end_in_window(f, windows_[parent], walked);
  } else if (frames_[parent].next_iteration < walked) {
    Frame& again = frames_[f];
    again.iteration = frames_[parent].next_iteration++;
    again.node = again.begin;
    again.busy = 0;
    frontier_.push_back(f);
  } else {
    unused_.push_back(f);
  }
  complete(parent, end, 0);
}

// An iteration begins when all up to the one `in_flight` before it are complete.
void Sweep::end_in_window(std::int32_t f, Window& window, std::int64_t walked) {
  Frame again = frames_[f];
  unused_.push_back(f);
  const auto size = static_cast<std::int64_t>(window.ends.size());
  const auto slot = [&](std::int64_t iteration) -> std::optional<PathTime>& {
    return window.ends[static_cast<std::size_t>(iteration % size)];
  };
  slot(again.iteration) = again.now;
  for (; slot(window.done); ++window.done) {
    window.joined = later(window.joined, *slot(window.done));
    slot(window.done).reset();
    std::int64_t& next = frames_[again.parent].next_iteration;
    if (next == walked) continue;
    again.iteration = next++;
    again.node = again.begin;
    again.busy = 0;
    again.now = window.joined;
    frontier_.push_back(make_frame(again));
  }
}

// From the walked iterations of a sampled loop. What is not repeated in it is that one rank came into it later than
// another: `walked` says when the path that was the slowest came into it. If that was another rank's, and earlier than
// `before`, this rank's parts until then are taken to be as much smaller.
PathTime Sweep::of_all_iterations(const PathTime& before, const PathTime& walked, const FlatNode& loop) const {
  if (walked.entered < 0) return walked; // nothing but empty steps, or not of this loop
  const Sample& sample = compiled_.samples[loop.sample];
  const double flight = walked.flight * sample.flights;
  const double without = walked.seconds - walked.entered - walked.flight;
  PathTime end = before.shortened(walked.entered);
  end.seconds = std::max(walked.entered + without * sample.times + flight, walked.seconds);
  end.transfer += walked.transfer * sample.times;
  end.reduction += walked.reduction * sample.times;
  end.doubt += walked.doubt * sample.times;
  end.meeting += walked.meeting * sample.times;
  end.crowding += walked.crowding * sample.times;
  end.flight += flight;
  return end;
}

// All ranks that a collapsed loop connects have done one iteration: the others follow at the pace of the slowest.
void Sweep::release_loop(std::int32_t member) {
  const double pace = loops_.pace(member);
  loops_.release(member, [&](std::int32_t f) {
    const std::int32_t parent = frames_[f].parent;
    const FlatNode& loop = compiled_.nodes[frames_[parent].node];
    const double rest = static_cast<double>(loop.trip - 1) * pace, busy = frames_[f].busy;
    const PathTime& now = frames_[f].now;
    // The rest is spent as the first iteration was.
    const PathTime& before = frames_[parent].now;
    const double spent = now.seconds - before.seconds;
    PathTime end = now.plus_latency(rest);
    if (spent > 0) {
      end.transfer += rest * (now.transfer - before.transfer) / spent;
      end.reduction += rest * (now.reduction - before.reduction) / spent;
    }
    loops_.set_rest(frames_[f].loop_set, rest);
    frames_[parent].busy += busy * static_cast<double>(loop.trip) / static_cast<double>(loop.in_flight);
    unused_.push_back(f);
    complete(parent, end, 0);
  });
}

// Loops that wait for ranks which will not come: released as they are.
bool Sweep::release_stuck() {
  for (std::int32_t member = 0; member < loops_.count(); ++member)
    if (loops_.waits(member)) release_loop(member);
  return !frontier_.empty();
}

// No message starts before it any more. A loop's frame stands where the loop began, those of its iterations go on.
double Sweep::earliest() const {
  std::vector<char> in_use(frames_.size(), 1);
  for (const std::int32_t f : unused_) in_use[f] = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t f = 0; f < frames_.size(); ++f) {
    const Frame& frame = frames_[f];
    const bool waits_for_loop = frame.node < frame.end && frame.pending > 0 && compiled_.nodes[frame.node].loop;
    if (in_use[f] && !waits_for_loop) least = std::min(least, frame.now.seconds);
  }
  return least;
}

void Sweep::finish_lane(std::int32_t i) {
  done_[i] = 1;
  const Instance& mine = compiled_.instances[i];
  for (std::uint32_t other = compiled_.first_instance[mine.rank]; other < compiled_.first_instance[mine.rank + 1];
       ++other) {
    const Instance& instance = compiled_.instances[other];
    for (const FlatAfter& after : compiled_.after(instance)) {
      if (after.lane != mine.lane || blocked_[other] == 0) continue;
      outcomes_[other].start = later(outcomes_[other].start, outcomes_[i].first);
      if (--blocked_[other] > 0) continue;
      Frame f;
      f.instance = static_cast<std::int32_t>(other);
      f.node = f.begin = instance.first_node, f.end = instance.first_node + instance.nodes;
      f.now = outcomes_[other].start;
      frontier_.push_back(make_frame(f));
    }
  }
}

// Whether nothing more comes of the rank's lane, if it has one.
bool Sweep::has_ended(std::int32_t rank, std::int32_t lane) const {
  if (compiled_.symmetry) rank = compiled_.symmetry->first(rank);
  for (std::uint32_t i = compiled_.first_instance[rank]; i < compiled_.first_instance[rank + 1]; ++i)
    if (compiled_.instances[i].lane == lane) return done_[i] != 0;
  return true;
}

Status Sweep::finished(std::int32_t phase) const {
  if (!wrong_) return wrong_.error();
  const auto* const lost = matching_.waiting([&](const Channel& c, Matching::Side missing) {
    return has_ended(missing == Matching::sends ? c.from : c.to, c.lane);
  });
  if (lost != nullptr) {
    const auto& [channel, queue] = *lost;
    const bool sent = queue.first[Matching::sends] >= 0;
    return failed("every send must have its receive",
                  fmt::format("a {} on lane {} from rank {} to rank {} has no {}", sent ? "send" : "receive",
                              compiled_.lanes[channel.lane].id.value, channel.from, channel.to,
                              sent ? "receive" : "send"),
                  verify_it);
  }
  std::int64_t unfinished = 0;
  for (std::size_t i = 0; i < compiled_.instances.size(); ++i)
    unfinished += compiled_.lanes[compiled_.instances[i].lane].phase == phase && !done_[i];
  if (unfinished > 0) return does_not_end(unfinished);
  return Nothing{};
}

} // namespace kumihimo::simulation
