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

// The least part of the period that a window sets: the first segment, which it is found from, may share what later ones
// have alone. The farthest of the random cases, a reduce in windows of one segment.
constexpr double least_of_window = 0.5;

// What a pipeline cannot beat even alone: its queues, and the windows of its lanes.
std::vector<Period> alone(const Compiled& compiled, const Sweep& sweep, std::int32_t phase) {
  const Loads& loads = sweep.loads();
  std::vector<Period> result(loads.bytes.size());
  std::vector<std::int32_t> longest(result.size(), -1); // instance; of equal ones the first
  std::vector<double> sending(loads.issued.size());     // by instance: its fullest queue
  const std::vector<double> bunched = bunched_seconds(compiled, loads);
  for (const auto& [channel, mine] : loads.between) {
    const double least = seconds_between(mine, loads.issued[mine.instance]) + bunched[mine.instance];
    sending[mine.instance] = std::max(sending[mine.instance], least);
    const std::int32_t p = sweep.pipeline(channel.lane);
    const double known = result[p].seconds, same = 1e-9 * known;
    if (least < known - same || (least <= known + same && longest[p] >= 0 && mine.instance >= longest[p])) continue;
    longest[p] = mine.instance;
    result[p] = {.seconds = least,
                 .least = std::max(mine.cost + mine.transfer, loads.issued[mine.instance].cost),
                 .limiting = "one engine's rate"};
    if (least > (mine.cost + mine.transfer) * (1 + 1e-9))
      result[p].limiting = "message costs of " + lane_of(compiled, compiled.instances[mine.instance]);
  }
  for (std::size_t i = 0; i < compiled.instances.size(); ++i) {
    const std::int32_t p = sweep.pipeline(compiled.instances[i].lane);
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
    const std::int32_t p = sweep.pipeline(instance.lane);
    const auto window = static_cast<double>(instance.window);
    const double busy = sweep.outcomes()[i].busy, least = busy / window;
    if (least > result[p].seconds * (1 + 1e-9))
      result[p] = {.seconds = least,
                   .longest = result[p].longest,
                   .least = std::max(result[p].least, loads.some_empty ? 0 : least_of_window * least),
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

// The share of a period that the busiest rank spends reducing.
double reducing_share(const Compiled& compiled, const Network& network, const Loads& loads, double period) {
  double most = 0;
  for (std::int32_t rank = 0; rank < compiled.schedule->ranks(); ++rank) {
    double bytes = 0;
    for (const auto& load : loads.bytes)
      if (!load.empty()) bytes += load[network.reducer(rank)];
    most = std::max(most, bytes / network.reduction_rate(rank));
  }
  return period > 0 ? std::min(1.0, most / period) : 0;
}

} // namespace

// Progressive filling over pipelines: all speed up together until a resource is full or one has reached its own limit;
// those concerned keep that period, the others go on.
std::vector<Period> periods(const Compiled& compiled, const Network& network, Sweep& sweep, std::int32_t phase) {
  std::vector<Period> result = alone(compiled, sweep, phase);
  const auto& load = sweep.loads().bytes;
  std::vector<double> left = network.capacities(), together(left.size());
  std::vector<char> active(result.size());
  for (std::size_t p = 0; p < active.size(); ++p) active[p] = !load[p].empty();
  for (bool first = true; std::find(active.begin(), active.end(), 1) != active.end(); first = false) {
    std::fill(together.begin(), together.end(), 0.0);
    std::size_t slowest = active.size();
    for (std::size_t p = 0; p < active.size(); ++p) {
      if (!active[p]) continue;
      if (slowest == active.size() || result[p].seconds > result[slowest].seconds) slowest = p;
      for (std::size_t r = 0; r < together.size(); ++r) together[r] += load[p][r];
    }
    Tightest t;
    for (std::size_t r = 0; r < together.size(); ++r)
      if (together[r] > t.seconds * std::max(left[r], 1e-300))
        t = {static_cast<Resource>(r), together[r] / std::max(left[r], 1e-300)};
    if (first)
      for (Period& period : result) period.least = std::max(period.least, t.seconds);
    const bool resource = t.seconds > result[slowest].seconds * (1 + 1e-9);
    for (std::size_t p = 0; p < active.size(); ++p) {
      if (!active[p] || (resource ? load[p][t.resource] <= 0 : p != slowest)) continue;
      if (resource)
        result[p] = {.seconds = t.seconds,
                     .longest = result[p].longest,
                     .least = result[p].least,
                     .limiting = network.name_of(t.resource)};
      active[p] = 0;
      for (std::size_t r = 0; r < left.size(); ++r) left[r] = std::max(0.0, left[r] - load[p][r] / result[p].seconds);
    }
  }
  for (Period& period : result) period.reducing = reducing_share(compiled, network, sweep.loads(), period.seconds);
  return result;
}

} // namespace kumihimo::simulation
