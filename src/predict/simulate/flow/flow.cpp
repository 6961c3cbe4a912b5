// The model flow: its stages, one after another.
#include "simulate/call.hpp"
#include "simulate/flow/parts.hpp"
#include "simulate/flow/stage_log.hpp"
#include "simulate/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kumihimo::simulation {
namespace {

struct Fullest {
  Resource resource = 0;
  double seconds = 0; // that its bytes take at its rate
};

template <class BytesOf>
Fullest fullest_of(const NetworkPaths& network, std::size_t resources, BytesOf&& bytes_of) {
  Fullest fullest;
  for (std::size_t r = 0; r < resources; ++r)
    if (const double t = bytes_of(r) / network.capacities()[r]; t > fullest.seconds)
      fullest = {static_cast<Resource>(r), t};
  return fullest;
}

// What one link stands for, the others have too.
void unfold(const Symmetry& symmetry, const NetworkPaths& network, ResourceTraffic& traffic) {
  for (Resource l = 0; l < network.link_bound(); ++l)
    traffic.resources[l] = traffic.resources[symmetry.first_resource(l)];
}

void describe_links(const NetworkPaths& network, const ResourceTraffic& traffic, SchedulePrediction& p) {
  p.links = network.machine().topology->links();
  std::int64_t shared = 0;
  p.link_bytes.reserve(static_cast<std::size_t>(network.link_bound()));
  for (Resource l = 0; l < network.link_bound(); ++l) {
    const auto& [bytes, last_flow, is_shared] = traffic.resources[l];
    p.link_bytes_sum += bytes;
    p.link_bytes_max = std::max(p.link_bytes_max, bytes);
    shared += is_shared;
    p.link_bytes.push_back(bytes);
  }
  p.links_waiting_share = p.links == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(p.links);
}

Phase& longest_phase(SchedulePrediction& p) {
  return *std::max_element(p.phases.begin(), p.phases.end(),
                           [](const Phase& a, const Phase& b) { return a.seconds.value < b.seconds.value; });
}

// The model does not see that messages of different levels share resources. It matters if all of them need one
// resource: a node's only link, or the engines of a root whose subtrees send when each has all it waits for. Then less
// time may have passed than the bytes take there. Returns whether that was so.
bool raise_to_fullest(const NetworkPaths& network, const ResourceTraffic& traffic, SchedulePrediction& p) {
  const Fullest fullest =
      fullest_of(network, traffic.resources.size(), [&](std::size_t r) { return traffic.resources[r].bytes; });
  const double missing = fullest.seconds - p.seconds.value;
  if (missing <= 1e-9 * p.seconds.value || p.phases.empty()) return false;
  p.limiting = network.name_of(fullest.resource);
  p.seconds.value += missing;
  p.transfer.value += missing;
  longest_phase(p).seconds.value += missing;
  return true;
}

// What most of the time is spent on. Programs without an operation have compute steps in place of reductions.
std::string limiting(const ProgramSet& schedule, const NetworkPaths& network, SchedulePrediction& p) {
  const double half = p.seconds.value / 2;
  if (p.steady.value > half) return longest_phase(p).limiting;
  if (p.latency.value > half) return "latency: message costs, hops and relays";
  if (p.reduction.value > half) return schedule.data->operation ? "reductions, one after another" : "compute steps";
  const Fullest fullest =
      fullest_of(network, p.link_bytes.size(), [&](std::size_t link) { return p.link_bytes[link]; });
  if (fullest.seconds > half) return network.name_of(fullest.resource);
  return p.transfer.value > half ? "transfers, one after another" : "transfers and latency";
}

// The parts of the time by levels, in proportion.
void take_times(const SchedulePrediction& exact, SchedulePrediction& p) {
  const double scale = p.seconds.value > 0 ? exact.seconds.value / p.seconds.value : 1;
  p.seconds = exact.seconds, p.is_solved = true;
  for (Seconds* const part : {&p.latency, &p.transfer, &p.reduction, &p.steady}) part->value *= scale;
  for (std::size_t i = 0; i < p.phases.size(); ++i) p.phases[i].seconds = exact.phases[i].seconds;
  p.links_waiting_share = exact.links_waiting_share;
  p.doubtful_sharing = 0;
}

// To walk fewer steps takes less time than to compare the programs of all ranks.
constexpr double few_steps = 3e6;

// If symmetry shortens a walk of all rounds to this many times the steps of a sample, no sample is drawn.
constexpr double exact_is_worth = 6;

// About 4 GiB at 250 bytes each, their messages and the links of these included.
constexpr double most_steps_at_once = 16e6;

constexpr double infinity = std::numeric_limits<double>::infinity();

// What a prediction is made with.
struct FlowSetting {
  const NetworkPaths& network;
  const SimulateOptions& options;
  const FlowParts& parts;
  StageLog& log;
};

// Refuses more rounds at once than memory holds.
Status can_be_held(const Compiled& compiled, bool without_sampling) {
  const double largest = compiled.steps_at_once();
  if (largest <= most_steps_at_once) return Nothing{};
  return wrong_value(
      fmt::format("the simulation keeps at most {:.0f} million steps in flight at once", most_steps_at_once / 1e6),
      fmt::format("{:.0f} million", largest / 1e6),
      fmt::format("{}use fewer messages at once (--throttle) or fewer ranks",
                  without_sampling ? "leave --without sampling out, " : ""));
}

// Whether the exact solution takes a moment: any of the steps may change the rates of all that are in flight.
bool is_small(const Compiled& compiled, double most_work) {
  std::int64_t window = 1;
  for (const Instance& instance : compiled.instances) window = std::max(window, instance.window);
  const auto segments = static_cast<double>(compiled.segments);
  return compiled.schedule->ranks() <= exact_rank_limit &&
         compiled.all_steps * segments * compiled.steps_at_once() * static_cast<double>(window) <= most_work;
}

// fn(lane's number, its times) for the lanes of a phase.
template <class F>
void for_each_lane(const Compiled& compiled, std::int32_t phase, std::vector<LaneTimes>& times, F&& fn) {
  for (std::size_t i = 0; i < compiled.instances.size(); ++i)
    if (const std::int32_t lane = compiled.instances[i].lane; compiled.lanes[lane].phase == phase) fn(lane, times[i]);
}

// The other segments follow the first. Notes the most and the least that the phase may take.
void add_segments(const Compiled& compiled, std::int32_t phase, const std::vector<Period>& periods,
                  const FittedNumbers& fitted, PhaseWalk& walked, Course& course) {
  double first = 0, least = 0;
  for_each_lane(compiled, phase, walked.progress.lanes, [&](std::int32_t lane, LaneTimes& times) {
    first = std::max(first, times.end.seconds - course.seconds);
    const Period& period = periods[static_cast<std::size_t>(compiled.lanes[lane].pipeline)];
    times.end = end_of_all(times, compiled.segments, period, fitted);
  });
  for (const Period& p : periods) least = std::max(least, p.least);
  const auto segments = static_cast<double>(compiled.segments);
  const double all = segments * least;
  course.least += walked.empty_messages ? fitted.empty_messages_overlap * all : std::max(first, all);
  course.most += segments * first;
}

// The phase behind the `course` so far, which then ends with it.
Phase end_phase(const Compiled& compiled, std::int32_t phase, const std::vector<Period>& periods, PhaseWalk& walked,
                Course& course) {
  Phase result;
  result.name = compiled.phases.name(phase);
  double end = course.seconds;
  std::int32_t slowest = -1;
  for_each_lane(compiled, phase, walked.progress.lanes, [&](std::int32_t lane, const LaneTimes& times) {
    if (slowest >= 0 && times.end.seconds <= end) return;
    end = std::max(end, times.end.seconds);
    slowest = lane, course.end = times.end;
  });
  result.seconds = {end - course.seconds};
  course.seconds = end;
  course.levels += walked.levels, course.messages += walked.messages;
  course.late_overlap += walked.late_overlap;
  course.empty_messages = course.empty_messages || walked.empty_messages;
  course.early_messages = course.early_messages || walked.early_messages;
  course.straddles_limits = course.straddles_limits || walked.straddles_limits;
  if (periods.empty() || slowest < 0) return result;
  const Period& period = periods[static_cast<std::size_t>(compiled.lanes[slowest].pipeline)];
  result.period = {period.seconds};
  result.limiting = period.limiting;
  const auto later = static_cast<double>(compiled.segments - 1);
  course.in_queues += std::max(0.0, period.longest - period.seconds) * later;
  if (period.shortest > 0) course.beside_queues += (period.seconds - period.shortest) * later;
  return result;
}

// The stages `levels` and `periods` of all phases.
Result<SchedulePrediction> walk_phases(const Compiled& compiled, const FlowSetting& setting, Course& course) {
  const auto& [network, options, parts, log] = setting;
  course.by_periods = compiled.segments > 1 && log.runs(FlowStage::periods);
  SchedulePrediction p;
  p.model = ScheduleModel::flow;
  Walk walk(compiled, network, course.by_periods ? 1 : compiled.segments, parts.fitted);
  std::vector<double> reducing(network.nodes().size()); // seconds by rank
  WalkProgress progress(compiled, network);
  for (std::int32_t phase = 0; phase < compiled.phases.count(); ++phase) {
    auto walked = TRY(log.time(FlowStage::levels, [&] { return parts.levels(walk, phase, std::move(progress)); }));
    std::vector<Period> period;
    if (course.by_periods) {
      period = log.time(FlowStage::periods, [&] { return parts.periods(compiled, network, walked, phase); });
      add_segments(compiled, phase, period, parts.fitted, walked, course);
    }
    Phase& described = p.phases.emplace_back(end_phase(compiled, phase, period, walked, course));
    for (std::size_t rank = 0; rank < reducing.size(); ++rank) {
      const double seconds = walked.summed[rank] / network.reduction_rate(static_cast<std::int32_t>(rank));
      reducing[rank] += seconds;
      described.compute = {std::max(described.compute.value, seconds)};
    }
    progress = std::move(walked.progress);
  }
  const PathTime& end = course.end;
  p.seconds = {course.seconds};
  p.latency = {end.latency()}, p.transfer = {end.transfer}, p.reduction = {end.reduction}, p.steady = {end.steady};
  p.doubtful_sharing = course.sharing_share();
  course.late_overlap = std::max(course.late_overlap, end.late_overlap);
  p.compute = {reducing.empty() ? 0 : *std::max_element(reducing.begin(), reducing.end())};
  if (compiled.symmetry) {
    p.ranks_alike = compiled.symmetry->alike();
    unfold(*compiled.symmetry, network, progress.traffic);
  }
  describe_links(network, progress.traffic, p);
  course.links_are_shared = p.links_waiting_share > 0;
  course.traffic = std::move(progress.traffic);
  return p;
}

// `small`: the time is that of the exact solution.
Result<SchedulePrediction> predict_walked(const Compiled& compiled, const FlowSetting& setting, bool small) {
  const auto& [network, options, parts, log] = setting;
  Course course;
  auto p = TRY(walk_phases(compiled, setting, course));
  constexpr double longest = 1e5; // seconds: the exact solution counts picoseconds
  const bool solves = small && p.seconds.value < longest;
  log.note(FlowStage::levels, "{} messages in {} levels{}", course.messages, course.levels,
           solves ? "; the time is the exact solution's" : "");
  if (course.by_periods)
    log.note(FlowStage::periods, "the first of {} segments stands for the others", compiled.segments);
  if (solves) {
    const auto exact = TRY(log.time(FlowStage::levels, [&] { return predict_exact(*compiled.schedule, network); }));
    take_times(exact, p);
    p.limiting = limiting(*compiled.schedule, network, p);
    return p;
  }
  p.limiting = limiting(*compiled.schedule, network, p);
  const bool raised = raise_to_fullest(network, course.traffic, p);
  if (log.runs(FlowStage::doubts))
    p = log.time(FlowStage::doubts, [&] {
      const auto found = parts.doubts(compiled, network, course, parts.fitted);
      return raised ? stated_as_minimum(std::move(p), found, parts.fitted) : stated(std::move(p), found);
    });
  else
    p.too_long = infinity, p.too_short = 1, p.accuracy = "without the stage doubts, no range is stated";
  log.note(FlowStage::doubts, "up to {:.0f} % too long, up to {:.0f} % too short", std::ceil(100 * p.too_long),
           std::ceil(100 * p.too_short));
  add_setup(*compiled.schedule, network, compiled.concurrency, p);
  return p;
}

// Without the stage `levels`: event by event.
Result<SchedulePrediction> predict_solved(const ProgramSet& set, const FlowSetting& setting) {
  if (set.ranks() > exact_rank_limit)
    return wrong_value(fmt::format("without the stage levels there may be at most {} ranks", exact_rank_limit),
                       set.ranks(), "leave --without levels out");
  auto p = setting.log.time(FlowStage::levels, [&] { return predict_exact(set, setting.network); });
  if (p) p->model = ScheduleModel::flow, p->is_solved = true;
  return p;
}

Result<SchedulePrediction> predict(const ProgramSet& set, const FlowSetting& setting, Seconds bound) {
  const auto& [network, options, parts, log] = setting;
  if (!log.runs(FlowStage::levels)) return predict_solved(set, setting);
  auto compiled = TRY(log.time(FlowStage::compile, [&] { return parts.compile(set, &network); }));
  log.note(FlowStage::compile, "{:.0f} steps of a segment, of which {:.0f} to walk", compiled.all_steps,
           compiled.walked_steps());
  if (Status can = network.can_offload(*set.data, compiled.offloaded); !can) return can.error();
  if (!log.runs(FlowStage::periods) && compiled.segments > 1 && !compiled.long_lanes.empty())
    return not_applicable("each segment is walked only of programs that are short enough to be held", {},
                          "leave --without periods out");
  const bool small = is_small(compiled, options.most_exact_work);
  const double most_steps = log.runs(FlowStage::sampling) ? options.most_steps : infinity;
  const auto walked = [&](const Compiled& c) -> Result<SchedulePrediction> {
    if (Status can = can_be_held(c, !log.runs(FlowStage::sampling)); !can) return can.error();
    return predict_walked(c, setting, small);
  };
  if (!compiled.long_lanes.empty()) return walked(compiled);
  if (log.runs(FlowStage::symmetry) && compiled.walked_steps() > std::min(most_steps, few_steps)) {
    compiled = log.time(FlowStage::symmetry,
                        [&] { return parts.symmetry(std::move(compiled), network, exact_is_worth * most_steps); });
    log.note(FlowStage::symmetry, "a rank stands for {}", compiled.symmetry ? compiled.symmetry->alike() : 1);
  }
  if (compiled.symmetry) return walked(compiled);
  Sampling sampling = log.time(FlowStage::sampling, [&] { return parts.sampling(compiled, most_steps); });
  if (sampling.loops.empty()) return walked(compiled);
  auto p = TRY(predict_sampled(std::move(compiled), sampling, bound, walked));
  p.limiting = limiting(set, network, p); // of all samples
  log.note(FlowStage::sampling, "{} samples of {} of the {} rounds", p.sampled->samples, p.sampled->rounds,
           p.sampled->of);
  return p;
}

} // namespace

Result<SchedulePrediction> predict_flow(const ProgramSet& schedule, const NetworkPaths& network,
                                        const SimulateOptions& options, Seconds bound) {
  static const FlowParts own;
  StageLog log(options);
  auto p = predict(schedule, {network, options, options.parts ? *options.parts : own, log}, bound);
  if (p) p->stages = log.reports();
  return p;
}

} // namespace kumihimo::simulation
