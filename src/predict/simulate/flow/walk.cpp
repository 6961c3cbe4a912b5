// The order of the walk: lanes, rounds and loops. What its levels hold is in gather.cpp.
#include "simulate/flow/walk.hpp"

#include "simulate/flow/symmetry.hpp"
#include "simulate/program_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kumihimo::simulation {

Walk::Walk(const Compiled& compiled, const NetworkPaths& network, std::int64_t segments, const FittedNumbers& fitted)
    : compiled_(compiled), network_(network), walked_(segments),
      element_(static_cast<double>(compiled.schedule->data->type_bytes)),
      missing_(compiled.instances.size() * static_cast<std::size_t>(segments)),
      unfinished_(compiled.instances.size(), segments), pieces_(compiled.long_lanes.size(), LanePiece{{}, {}, 0}),
      offloads_(compiled.lanes.size()), offloads_of_(compiled.instances.size()),
      lengths_(*compiled.schedule->data, compiled.segments), times_(network, fitted),
      processors_(compiled.instances.size()) {
  if (segments > 1) segment_starts_.resize(missing_.size()), lane_windows_.resize(compiled.instances.size());
  matching_.reserve(std::max(2 * compiled.instances.size(), static_cast<std::size_t>(compiled.steps_at_once())));
}

Result<PhaseWalk> Walk::phase(std::int32_t phase, WalkProgress before) {
  phase_ = phase;
  result_ = {};
  result_.progress = std::move(before);
  frames_.clear(), unused_.clear(), windows_.clear(), loops_.clear(), matching_.clear();
  times_.begin_phase(compiled_, phase, is_pipeline());
  LoadCounter counter(compiled_, network_, static_cast<double>(compiled_.segments / walked_), result_.progress.traffic,
                      is_pipeline() ? &result_.loads : nullptr);
  for (std::size_t i = 0; i < compiled_.instances.size(); ++i)
    if (compiled_.lanes[compiled_.instances[i].lane].phase == phase) begin_lane(static_cast<std::int32_t>(i));
  do {
    while (!frontier_.empty() || matching_.any_ready()) {
      current_.swap(frontier_);
      for (const std::int32_t f : current_) advance(f);
      current_.clear();
      gather();
      times_.solve(level_);
      ++result_.levels, result_.messages += std::ssize(level_.messages);
      counter.add(level_, times_.shares());
      for (std::size_t i = 0; i < level_.messages.size(); ++i) deliver(level_.messages[i], level_.flows.rate[i]);
      times_.end(level_);
      if (!matching_.has_stale_queues()) continue;
      const double now = earliest();
      matching_.forget([&](const Occupied& o) { return o.until + loops_.rest(o.loop) <= now; });
    }
  } while (release_stuck());
  if (Status good = finished(); !good) return good.error();
  result_.summed = counter.summed(), result_.late_overlap = times_.late_overlap();
  return std::move(result_);
}

// --- lanes and their segments ----------------------------------------------------------------------------------------

// Segments whose predecessors are all of earlier phases start; the others wait for lanes of this one, or their window.
void Walk::begin_lane(std::int32_t i) {
  const Instance& instance = compiled_.instances[i];
  const std::uint32_t first = compiled_.first_instance[instance.rank];
  for (std::int64_t s = 0; s < walked_; ++s) {
    PathTime& start = time_of(i, s);
    std::int32_t& missing = missing_[i * walked_ + s];
    for (const FlatAfter& after : compiled_.after(instance)) {
      if (s < after.behind) continue;
      const std::uint32_t other = first + after.nth;
      if (compiled_.lanes[compiled_.instances[other].lane].phase == phase_)
        ++missing;
      else
        start = later(start, times_of(other).end);
    }
    missing += s >= instance.window ? 1 : 0;
    if (missing == 0) start_segment(i, s);
  }
  if (walked_ > 1) lane_windows_[i] = Window(instance.window);
}

void Walk::start_segment(std::int32_t i, std::int64_t segment) {
  const Instance& instance = compiled_.instances[i];
  Frame f;
  f.instance = i, f.iteration = segment;
  f.node = f.begin = compiled_.nodes.data() + instance.first_node, f.end = f.begin + instance.nodes;
  f.now = time_of(i, segment);
  if (segment == 0) times_of(i).start = f.now.seconds;
  frontier_.push_back(make_frame(f));
}

// One that the segment waits for has ended.
void Walk::release(std::int32_t i, std::int64_t segment, const PathTime& time) {
  if (segment >= walked_) return;
  PathTime& start = time_of(i, segment);
  start = later(start, time);
  if (--missing_[i * walked_ + segment] == 0) start_segment(i, segment);
}

void Walk::end_segment(std::int32_t i, std::int64_t segment, const PathTime& end, double busy) {
  const Instance& mine = compiled_.instances[i];
  LaneTimes& times = times_of(i);
  times.end = segment == 0 ? end : later(times.end, end);
  times.busy += busy;
  --unfinished_[i];
  const std::uint32_t first = compiled_.first_instance[mine.rank];
  for (std::uint32_t other = first; other < compiled_.first_instance[mine.rank + 1]; ++other) {
    const Instance& instance = compiled_.instances[other];
    for (const FlatAfter& after : compiled_.after(instance))
      if (first + after.nth == static_cast<std::uint32_t>(i) && compiled_.lanes[instance.lane].phase == phase_)
        release(static_cast<std::int32_t>(other), segment + after.behind, end);
  }
  if (walked_ > 1)
    lane_windows_[i].end(
        segment, end, [&](const PathTime& joined, std::int64_t done) { release(i, done - 1 + mine.window, joined); });
}

// Whether nothing more comes of the rank's lane, if it has one.
bool Walk::has_ended(std::int32_t rank, std::int32_t lane) const {
  if (compiled_.symmetry) rank = compiled_.symmetry->first(rank);
  for (std::uint32_t i = compiled_.first_instance[rank]; i < compiled_.first_instance[rank + 1]; ++i)
    if (compiled_.instances[i].lane == lane) return unfinished_[i] == 0;
  return true;
}

Status Walk::finished() const {
  if (!wrong_) return wrong_.error();
  const StepMatching::Id lost = matching_.waiting([&](const Channel& c, StepMatching::Side missing) {
    return has_ended(missing == StepMatching::sends ? c.from : c.to, c.lane);
  });
  if (lost >= 0) {
    const Channel& channel = matching_.channel(lost);
    const bool sent = matching_.has_send(lost);
    return failed("every send must have its receive",
                  fmt::format("a {} on lane {} from rank {} to rank {} has no {}", sent ? "send" : "receive",
                              compiled_.lanes[channel.lane].id.value, channel.from, channel.to,
                              sent ? "receive" : "send"),
                  verify_it);
  }
  std::int64_t unfinished = 0;
  for (std::size_t i = 0; i < compiled_.instances.size(); ++i)
    unfinished += compiled_.lanes[compiled_.instances[i].lane].phase == phase_ && unfinished_[i] > 0;
  if (unfinished > 0) return does_not_end(unfinished);
  return Nothing{};
}

// --- rounds ----------------------------------------------------------------------------------------------------------

std::int32_t Walk::make_frame(const Frame& frame) {
  if (unused_.empty()) return frames_.push_back(frame), static_cast<std::int32_t>(frames_.size()) - 1;
  const std::int32_t at = unused_.back();
  unused_.pop_back();
  frames_[at] = frame;
  return at;
}

void Walk::advance(std::int32_t f) {
  while (frames_[f].node == frames_[f].end)
    if (!read_on(f)) return finish(f);
  const FlatNode& node = *frames_[f].node;
  frames_[f].next = frames_[f].now;
  frames_[f].round_busy = 0;
  if (node.loop)
    start_loop(f, node);
  else
    start_round(f, node);
}

// Whether there are more rounds of a long lane.
bool Walk::read_on(std::int32_t f) {
  Frame& frame = frames_[f];
  const Instance& instance = compiled_.instances[frame.instance];
  if (instance.long_lane < 0) return false;
  LanePiece& piece = pieces_[instance.long_lane];
  if (!piece.next) return false;
  piece = compiled_.read(instance, *piece.next);
  frame.node = frame.begin = piece.nodes.data(), frame.end = frame.begin + piece.nodes.size();
  return true;
}

void Walk::start_round(std::int32_t f, const FlatNode& round) {
  const std::int32_t long_lane = compiled_.instances[frames_[f].instance].long_lane;
  const FlatStep* const steps = long_lane < 0 ? compiled_.steps.data() : pieces_[long_lane].steps.data();
  frames_[f].pending = round.count;
  for (const FlatStep* step = steps + round.first; step < steps + round.first + round.count; ++step) post(f, *step);
}

LoopValues Walk::values_of(std::int32_t f) const {
  LoopValues values{};
  for (; frames_[f].parent >= 0; f = frames_[f].parent) {
    const Frame& frame = frames_[f];
    const FlatNode& loop = *frames_[frame.parent].node;
    if (loop.together) continue;
    values[frame.depth] = loop.sample < 0
                              ? frame.iteration
                              : compiled_.samples[loop.sample].iterations[static_cast<std::size_t>(frame.iteration)];
  }
  return values;
}

void Walk::post(std::int32_t f, const FlatStep& step) {
  const Frame& frame = frames_[f];
  const Instance& instance = compiled_.instances[frame.instance];
  std::int64_t to = step.peer;
  double bytes = step.bytes, gap = step.gap;
  std::int32_t part = step.part;
  const bool signal = step.kind == StepKind::signal || step.kind == StepKind::wait_signal;
  if (step.dynamic >= 0) {
    const DynamicStep& dynamic = compiled_.dynamic[step.dynamic];
    const auto values = values_of(f);
    to = dynamic.peer.evaluate(values);
    gap = static_cast<double>(dynamic.gap.evaluate(values));
    if (dynamic.length) {
      bytes = lengths_.mean_bytes(dynamic.length->extent, instance.rank, values, dynamic.length->collapsed);
      if (is_pipeline() && bytes < element_) part = first_part(dynamic.length->extent, values);
    }
    if (!signal && bytes <= 0) return complete(f, frame.now, 0);
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
  for (std::int32_t m = loop_around(f); m >= 0; m = loops_.around(m)) loops_.fill(m, signal ? 1 : bytes / element_);
  const Posted posted{bytes, gap, frame.repetitions, frame.sample_weight, f, frame.instance, step.kind, step.exact};
  if (is_pipeline() && step.kind == StepKind::send && part >= 0 && bytes < element_)
    result_.loads.bunched[{frame.instance, part}] += frame.repetitions * frame.sample_weight * (1 - bytes / element_);
  const Symmetry* const symmetry = compiled_.symmetry.get();
  if (step.kind == StepKind::send || step.kind == StepKind::signal)
    matching_.post({instance.lane, instance.rank, peer}, StepMatching::sends, frame.now, posted);
  else if (symmetry == nullptr)
    matching_.post({instance.lane, peer, instance.rank}, StepMatching::receives, frame.now, posted);
  else // what its sender's first sends is the image of what this receives
    matching_.post({instance.lane, symmetry->first(peer), symmetry->moved(instance.rank, peer)}, StepMatching::receives,
                   frame.now, posted);
}

// Runs beside the messages of its level.
void Walk::local_step(std::int32_t f, StepKind kind, double bytes) {
  const Frame& frame = frames_[f];
  const Instance& instance = compiled_.instances[frame.instance];
  FlowMessage m;
  m.issuer = frame.instance, m.sender = f;
  m.sample_weight = frame.sample_weight;
  m.channel = {instance.lane, instance.rank, instance.rank};
  m.repetitions = frame.repetitions, m.drifts = drifts(m);
  m.start = frame.now.seconds, m.start_error = frame.now.sharing_error;
  (kind == StepKind::copy ? m.moved : m.summed) = bytes;
  m.computes = kind == StepKind::compute;
  m.path.limit = network_.copy_rate(instance.rank);
  local_.push_back(m);
}

// The network's own engine: all ranks that have the lane take part, the k-th call of each.
void Walk::offload_step(std::int32_t f) {
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

// One step of the frame's round is done.
void Walk::complete(std::int32_t f, const PathTime& end, double busy) {
  Frame& frame = frames_[f];
  frame.next = later(frame.next, end);
  frame.round_busy = std::max(frame.round_busy, busy);
  if (--frame.pending > 0) return;
  frame.busy += frame.round_busy;
  frame.now = frame.node->sample < 0 ? frame.next : of_all_iterations(frame.now, frame.next, *frame.node);
  ++frame.node;
  frontier_.push_back(f);
}

void Walk::finish(std::int32_t f) {
  Frame& frame = frames_[f];
  if (frame.parent < 0) {
    unused_.push_back(f);
    const PathTime end = frame.now; // of a frame that the next segment may take
    return end_segment(frame.instance, frame.iteration, end, frame.busy);
  }
  if (frame.loop_set < 0) return finish_iteration(f);
  const FlatNode& loop = *frames_[frame.parent].node;
  if (loops_.arrive(frame.loop_set, frame.busy / static_cast<double>(loop.in_flight), f)) release_loop(frame.loop_set);
}

// --- loops -----------------------------------------------------------------------------------------------------------

void Walk::start_loop(std::int32_t f, const FlatNode& loop) {
  Frame child;
  child.instance = frames_[f].instance;
  child.parent = f;
  child.depth = frames_[f].depth + 1;
  child.node = child.begin = compiled_.nodes.data() + loop.first, child.end = child.begin + loop.count;
  child.repetitions = frames_[f].repetitions;
  child.sample_weight = frames_[f].sample_weight * compiled_.weight(loop);
  child.now = loop.sample < 0 ? frames_[f].now : frames_[f].now.entering();
  if (loop.collapsed) {
    child.repetitions *= static_cast<double>(loop.trip);
    child.loop_set = loops_.enter(loop_around(f));
    frames_[f].pending = 1;
    return advance(make_frame(child));
  }
  const std::int64_t at_once = compiled_.at_once(loop);
  frames_[f].pending = compiled_.walked(loop);
  if (at_once > 1 && at_once < compiled_.walked(loop)) windows_[f] = Window(at_once);
  const FlatNode* const items = child.begin;
  for (child.iteration = 0; child.iteration < at_once; ++child.iteration) {
    if (loop.together) child.node = child.begin = items + child.iteration, child.end = child.begin + 1;
    advance(make_frame(child));
  }
}

void Walk::finish_iteration(std::int32_t f) {
  Frame& frame = frames_[f];
  const std::int32_t parent = frame.parent;
  const FlatNode& loop = *frames_[parent].node;
  const PathTime end = frame.now;
  if (loop.together) {
    const double busy = frame.busy;
    unused_.push_back(f);
    return complete(parent, end, busy);
  }
  frames_[parent].busy += frame.busy / static_cast<double>(loop.in_flight) * compiled_.weight(loop);
  const std::int64_t at_once = compiled_.at_once(loop), walked = compiled_.walked(loop);
  const auto begin_iteration = [&](Frame& next, std::int64_t iteration) {
    next.iteration = iteration, next.node = next.begin, next.busy = 0;
  };
  if (at_once == 1 && frame.iteration + 1 < walked) {
    begin_iteration(frame, frame.iteration + 1);
    frontier_.push_back(f);
  } else {
    unused_.push_back(f);
  }
  if (at_once > 1 && at_once < walked) {
    Frame next = frame;
    windows_[parent].end(frame.iteration, end, [&](const PathTime& joined, std::int64_t done) {
      if (done - 1 + at_once >= walked) return;
      begin_iteration(next, done - 1 + at_once);
      next.now = joined;
      frontier_.push_back(make_frame(next));
    });
  }
  complete(parent, end, 0);
}

// From the walked iterations of a sampled loop. A late arrival at the loop happens once, not in each iteration:
// `walked` says when the slowest path came into the loop. If that was another rank's, and earlier than `before`, this
// rank's parts until then are taken to be smaller by the same factor.
PathTime Walk::of_all_iterations(const PathTime& before, const PathTime& walked, const FlatNode& loop) const {
  if (walked.entered < 0) return walked; // nothing but empty steps, or not of this loop
  const LoopSample& sample = compiled_.samples[loop.sample];
  const double flight = walked.flight * sample.flights;
  const double without = walked.seconds - walked.entered - walked.flight;
  PathTime end = before.shortened(walked.entered);
  end.seconds = std::max(walked.entered + without * sample.weight + flight, walked.seconds);
  end.transfer += walked.transfer * sample.weight;
  end.reduction += walked.reduction * sample.weight;
  end.sharing_error += walked.sharing_error * sample.weight;
  end.late_overlap += walked.late_overlap * sample.weight;
  end.reducer_contention += walked.reducer_contention * sample.weight;
  end.flight += flight;
  return end;
}

// The innermost collapsed loop that the frame is in, as its member there; -1 without.
std::int32_t Walk::loop_around(std::int32_t f) const {
  while (f >= 0 && frames_[f].loop_set < 0) f = frames_[f].parent;
  return f < 0 ? -1 : frames_[f].loop_set;
}

void Walk::connect_loops(std::int32_t a, std::int32_t b) {
  if (loops_.count() == 0) return;
  while (a >= 0 && b >= 0) {
    while (a >= 0 && frames_[a].loop_set < 0) a = frames_[a].parent;
    while (b >= 0 && frames_[b].loop_set < 0) b = frames_[b].parent;
    if (a < 0 || b < 0) return;
    loops_.connect(frames_[a].loop_set, frames_[b].loop_set);
    a = frames_[a].parent, b = frames_[b].parent;
  }
}

// All ranks that a collapsed loop connects have done one iteration: the others follow at the pace of the slowest.
void Walk::release_loop(std::int32_t member) {
  const double pace = loops_.pace(member);
  loops_.release(member, [&](std::int32_t f) {
    const std::int32_t parent = frames_[f].parent;
    const FlatNode& loop = *frames_[parent].node;
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
bool Walk::release_stuck() {
  for (std::int32_t member = 0; member < loops_.count(); ++member)
    if (loops_.waits(member)) release_loop(member);
  return !frontier_.empty();
}

// No message starts before it any more. A loop's frame stands where the loop began, those of its iterations go on.
double Walk::earliest() const {
  std::vector<char> in_use(frames_.size(), 1);
  for (const std::int32_t f : unused_) in_use[f] = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t f = 0; f < frames_.size(); ++f) {
    const Frame& frame = frames_[f];
    const bool waits_for_loop = frame.node < frame.end && frame.pending > 0 && frame.node->loop;
    if (in_use[f] && !waits_for_loop) least = std::min(least, frame.now.seconds);
  }
  return least;
}

} // namespace kumihimo::simulation
