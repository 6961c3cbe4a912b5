#include "simulate/flow/periods.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::simulation {
namespace {

std::string lane_of(const Compiled& compiled, const Instance& instance) {
  return fmt::format("lane {} at rank {}", compiled.lanes[instance.lane].id.value, instance.rank);
}

// How long a segment keeps a lane's messages between two ranks busy. They are issued and leave one after another; while
// one of them leaves, the lane issues one of its others, which the next waits for where it takes longer.
double seconds_between(const QueueLoad& mine, const QueueLoad& all) {
  const double others = all.messages - mine.messages, met = std::min(1.0, others / mine.messages);
  return mine.cost + (1 - met) * mine.transfer + std::max(met * mine.transfer, all.cost - mine.cost);
}

// With fewer elements than messages, a segment has elements of some parts only. A rank that sends one part in most of
// its messages has more of them in the segments with an element of that part than in the mean. In each segment some
// rank is in this position, and the others wait for it. Returns the seconds by which its queue takes longer than the
// mean.
std::vector<double> bunched_seconds(const Compiled& compiled, const Loads& loads) {
  std::vector<double> result(loads.issued.size());
  const double elements = static_cast<double>(compiled.schedule->data->elements);
  const double with_elements = std::min(1.0, elements / static_cast<double>(compiled.segments));
  for (const auto& [of, messages] : loads.bunched) {
    const QueueLoad& all = loads.issued[of.first];
    if (all.messages > 0)
      result[of.first] = std::max(result[of.first], with_elements * messages * all.cost / all.messages);
  }
  return result;
}

// The processor of a lane issues the messages of a segment and takes those that arrive. If it is the bottleneck, a
// message may find it taking another; its queue is idle meanwhile, since the next message is issued only when this one
// has left. At best this never happens, at worst each time. In chains and trees on Fugaku, segments of 256 B to 256
// KiB, the period was from one to the other; the middle is at most 20 % off.
Period processor_of(const QueueLoad& issued, double taken, double sending) {
  const double shortest = issued.cost + taken, longest = sending + taken;
  if (taken <= 0 || issued.cost <= 0 || shortest <= sending)
    return {.seconds = taken, .least = taken, .limiting = "receive costs of "};
  return {.seconds = (shortest + longest) / 2,
          .longest = longest,
          .shortest = shortest,
          .least = shortest,
          .limiting = "message and receive costs of "};
}

// What a pipeline cannot beat even alone: its queues, and the windows of its lanes.
std::vector<Period> alone(const Compiled& compiled, const PhaseWalk& walk, std::int32_t phase) {
  const Loads& loads = walk.loads;
  std::vector<Period> result(loads.pipelines);
  const auto pipeline_of = [&](const Instance& i) { return compiled.lanes[i.lane].pipeline; };
  std::vector<std::int32_t> longest(result.size(), -1); // instance; of equal ones the first
  std::vector<double> sending(loads.issued.size());     // by instance: its fullest queue
  const std::vector<double> bunched = bunched_seconds(compiled, loads);
  loads.between.for_each([&](auto id) {
    const QueueLoad& mine = loads.between[id];
    const double least = seconds_between(mine, loads.issued[mine.instance]) + bunched[mine.instance];
    sending[mine.instance] = std::max(sending[mine.instance], least);
    const std::int32_t p = pipeline_of(compiled.instances[mine.instance]);
    const double known = result[p].seconds, same = 1e-9 * known;
    if (least < known - same || (least <= known + same && longest[p] >= 0 && mine.instance >= longest[p])) return;
    longest[p] = mine.instance;
    result[p] = {.seconds = least,
                 .least = std::max(mine.cost + mine.transfer, loads.issued[mine.instance].cost),
                 .limiting = "one engine's rate"};
    if (least > (mine.cost + mine.transfer) * (1 + 1e-9))
      result[p].limiting = "message costs of " + lane_of(compiled, compiled.instances[mine.instance]);
  });
  for (std::size_t i = 0; i < compiled.instances.size(); ++i) {
    const std::int32_t p = pipeline_of(compiled.instances[i]);
    const Period processor = processor_of(loads.issued[i], loads.taken[i], sending[i]);
    if (processor.seconds <= result[p].seconds * (1 + 1e-9)) continue;
    result[p] = processor;
    result[p].limiting += lane_of(compiled, compiled.instances[i]);
  }
  std::vector<double> queue;
  for (const Period& period : result) queue.push_back(period.seconds);
  for (std::size_t i = 0; i < compiled.instances.size(); ++i) {
    const Instance& instance = compiled.instances[i];
    if (compiled.lanes[instance.lane].phase != phase || instance.window >= compiled.segments) continue;
    const std::int32_t p = pipeline_of(instance);
    const auto window = static_cast<double>(instance.window);
    // The first segment, which it is found from, may share what later ones have alone.
    const double busy = walk.progress.lanes[i].busy, least = busy / window;
    if (least > result[p].seconds * (1 + 1e-9))
      result[p] = {.seconds = least,
                   .longest = result[p].longest,
                   .least = result[p].least,
                   .limiting = "window of " + lane_of(compiled, instance)};
    // At best the segments in flight never meet; at worst each finds all others in front of it once.
    if (instance.sends > 1) result[p].longest = std::max(result[p].longest, (busy + (window - 1) * queue[p]) / window);
  }
  return result;
}

struct Tightest {
  Resource resource = -1;
  double seconds = 0;
};

// Seconds of a segment during which the busiest rank reduces.
double reducing_seconds(const Compiled& compiled, const NetworkPaths& network, const Loads& loads) {
  double most = 0;
  for (std::int32_t rank = 0; rank < compiled.schedule->ranks(); ++rank) {
    double bytes = 0;
    const double* const load = loads.of(network.reducer(rank));
    for (std::size_t p = 0; p < loads.pipelines; ++p) bytes += load[p];
    most = std::max(most, bytes / network.reduction_rate(rank));
  }
  return most;
}

} // namespace

// Progressive filling over pipelines: all speed up together until a resource is full or one has reached its own limit;
// those concerned keep that period, the others go on.
std::vector<Period> periods(const Compiled& compiled, const NetworkPaths& network, const PhaseWalk& walk,
                            std::int32_t phase) {
  std::vector<Period> result = alone(compiled, walk, phase);
  const Loads& loads = walk.loads;
  std::vector<double> left = network.capacities();
  std::vector<char> active(result.size());
  for (const FlatLane& lane : compiled.lanes)
    if (lane.phase == phase) active[static_cast<std::size_t>(lane.pipeline)] = 1;
  for (bool first = true; std::find(active.begin(), active.end(), 1) != active.end(); first = false) {
    std::size_t slowest = active.size();
    for (std::size_t p = 0; p < active.size(); ++p)
      if (active[p] && (slowest == active.size() || result[p].seconds > result[slowest].seconds)) slowest = p;
    Tightest t;
    for (std::size_t r = 0; r < left.size(); ++r) {
      const double* const load = loads.of(static_cast<Resource>(r));
      double together = 0;
      for (std::size_t p = 0; p < active.size(); ++p) together += active[p] ? load[p] : 0;
      if (together > t.seconds * std::max(left[r], 1e-300))
        t = {static_cast<Resource>(r), together / std::max(left[r], 1e-300)};
    }
    if (first)
      for (Period& period : result) period.least = std::max(period.least, t.seconds);
    const bool resource = t.seconds > result[slowest].seconds * (1 + 1e-9);
    for (std::size_t p = 0; p < active.size(); ++p) {
      if (!active[p] || (resource ? loads.of(t.resource)[p] <= 0 : p != slowest)) continue;
      if (resource)
        result[p] = {.seconds = t.seconds,
                     .longest = result[p].longest,
                     .least = result[p].least,
                     .limiting = network.name_of(t.resource)};
      active[p] = 0;
      for (std::size_t r = 0; r < left.size(); ++r)
        left[r] = std::max(0.0, left[r] - loads.of(static_cast<Resource>(r))[p] / result[p].seconds);
    }
  }
  const double reducing = reducing_seconds(compiled, network, loads);
  for (Period& period : result) period.reducing = period.seconds > 0 ? std::min(1.0, reducing / period.seconds) : 0;
  return result;
}

// The first segment finds the reducing threads idle, later ones find those of other lanes at work: the path through the
// pipeline grows longer by that contention, in full once the pipeline takes fitted.contention_after times as long as
// its first segment, and only if the threads are busy.
PathTime end_of_all(const LaneTimes& lane, std::int64_t segments, const Period& period, const FittedNumbers& fitted) {
  const double steady = static_cast<double>(segments - 1) * period.seconds, fill = lane.end.seconds - lane.start;
  const double full = fill > 0 ? std::min(1.0, steady / (fitted.contention_after * fill)) : 0;
  PathTime end = lane.end.plus_steady(steady).plus_reduction(lane.end.reducer_contention * period.reducing * full);
  end.reducer_contention = 0;
  return end;
}

} // namespace kumihimo::simulation
