#include "program/binding.hpp"
#include "simulate/flow/periods.hpp"
#include "simulate/flow/sampled.hpp"
#include "simulate/flow/symmetry.hpp"
#include "simulate/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kumihimo::simulation {
namespace {

struct PhaseTotals {    // of the phases so far
  std::size_t last = 0; // the instance that ends last
  double seconds = 0;
  std::vector<double> reduced; // seconds by rank
  double meeting = 0;          // seconds: see PathTime
  double in_queues = 0;        // seconds that it may be longer: see Period::longest
  double beside_queues = 0;    // seconds that it may be shorter: see Period::shortest
  double least = 0, most = 0;  // seconds: if segments overlapped as far as the fullest resource lets them, if none did
  bool some_empty = false;     // see Loads
  bool some_early = false;     // of several segments
  bool some_straddle = false;  // see Loads
};

struct Fullest {
  Resource resource = 0;
  double seconds = 0; // that its bytes take at its rate
};

Fullest fullest_of(const Network& network, const std::vector<double>& bytes) {
  Fullest fullest;
  for (std::size_t r = 0; r < bytes.size(); ++r)
    if (const double t = bytes[r] / network.capacities()[r]; t > fullest.seconds)
      fullest = {static_cast<Resource>(r), t};
  return fullest;
}

// Fitted to the exact solution of trinaryx3, trinaryx6 and trinaryx3_overlap on 4x4x4, 3x3x3, 5x4x3 and 6x2x3 of K, 1
// to 64 MiB in segments of 16 KiB to 1 MiB. The program that went through these 198 cases was not kept. Their largest
// error was 8.7 % with 2, 12.3 % with 1 or 4, 18.6 % without crowding, 57 % with all of it at once.
// SixTreesAndOverlapToo in tests/predict/simulate/accuracy_test.cpp holds some like them to 10 %.
constexpr double crowded_after = 2;

// The first segment finds the reducing threads idle, later ones find those of other lanes at work: the path through the
// pipeline grows longer by its crowding. Crowding counts in full once the pipeline takes crowded_after times as long as
// its first segment, and only if the threads are busy.
PathTime all_segments(const Outcome& o, std::int64_t segments, const Period& period) {
  const double steady = static_cast<double>(segments - 1) * period.seconds, fill = o.first.seconds - o.start.seconds;
  const double full = fill > 0 ? std::min(1.0, steady / (crowded_after * fill)) : 0;
  return o.first.plus_steady(steady).plus_reduction(o.first.crowding * period.reducing * full);
}

// Ends of all segments of a phase, from those of the first.
std::vector<Period> end_phase(const Compiled& compiled, const Network& network, Sweep& sweep, std::int32_t phase) {
  std::vector<Period> period;
  if (compiled.segments > 1) period = periods(compiled, network, sweep, phase);
  for (std::size_t i = 0; i < compiled.instances.size(); ++i) {
    const std::int32_t lane = compiled.instances[i].lane;
    if (compiled.lanes[lane].phase != phase) continue;
    Outcome& o = sweep.outcomes()[i];
    o.total = o.first;
    if (!period.empty()) o.total = all_segments(o, compiled.segments, period[sweep.pipeline(lane)]);
    o.total.crowding = 0;
  }
  return period;
}

Phase describe_phase(const Compiled& compiled, const Network& network, Sweep& sweep, std::int32_t phase,
                     const std::vector<Period>& period, PhaseTotals& course) {
  Phase result;
  result.name = compiled.phases.name(phase);
  double end = course.seconds;
  std::int32_t slowest = -1;
  for (std::size_t i = 0; i < compiled.instances.size(); ++i) {
    const std::int32_t lane = compiled.instances[i].lane;
    if (compiled.lanes[lane].phase != phase) continue;
    if (slowest >= 0 && sweep.outcomes()[i].total.seconds <= end) continue;
    end = std::max(end, sweep.outcomes()[i].total.seconds);
    slowest = lane;
    course.last = i;
  }
  result.seconds = {end - course.seconds};
  course.seconds = end;
  for (std::size_t rank = 0; rank < course.reduced.size(); ++rank) {
    const double t = sweep.traffic().reduced[rank] / network.reduction_rate(static_cast<std::int32_t>(rank));
    course.reduced[rank] += t;
    result.compute = {std::max(result.compute.value, t)};
  }
  if (!period.empty() && slowest >= 0) {
    const Period& p = period[sweep.pipeline(slowest)];
    result.period = {p.seconds};
    result.limiting = p.limiting;
    const auto later = static_cast<double>(compiled.segments - 1);
    course.in_queues += std::max(0.0, p.longest - p.seconds) * later;
    if (p.shortest > 0) course.beside_queues += (p.seconds - p.shortest) * later;
  }
  return result;
}

// What one link stands for, the others have too.
void unfold(const Symmetry& symmetry, Traffic& traffic) {
  for (std::size_t l = 0; l < traffic.waiting.size(); ++l) {
    const auto first = static_cast<std::size_t>(symmetry.first_resource(static_cast<Resource>(l)));
    traffic.bytes[l] = traffic.bytes[first], traffic.waiting[l] = traffic.waiting[first];
  }
}

void describe_links(const Network& network, Sweep& sweep, Prediction& p) {
  const Traffic& traffic = sweep.traffic();
  p.links = network.machine().topology->links();
  std::int64_t waiting = 0;
  for (std::size_t l = 0; l < traffic.waiting.size(); ++l) {
    p.link_bytes_sum += traffic.bytes[l];
    p.link_bytes_max = std::max(p.link_bytes_max, traffic.bytes[l]);
    waiting += traffic.waiting[l];
  }
  p.links_waiting_share = p.links == 0 ? 0 : static_cast<double>(waiting) / static_cast<double>(p.links);
  p.link_bytes.assign(traffic.bytes.begin(), traffic.bytes.begin() + network.link_bound());
}

// Of unequal blocks each round has another length, and empty ones are not sent. Messages are taken to be as long as the
// mean over a loop's rounds.
bool has_unequal_blocks(const Compiled& compiled) {
  const auto& layouts = compiled.schedule->data->blocks;
  return std::any_of(layouts.begin(), layouts.end(), [](const BlockLayout& blocks) { return !blocks.uniform(); });
}

// The least part of the time so found that a pipeline of such rounds takes: the farthest of the random cases.
constexpr double unequal_blocks_overlap = 0.7;

// The most and the least that a phase of several segments may take, by its first.
void bound_phase(const Compiled& compiled, const Sweep& sweep, std::int32_t phase, const std::vector<Period>& period,
                 PhaseTotals& course) {
  double first = 0;
  for (std::size_t i = 0; i < compiled.instances.size(); ++i)
    if (compiled.lanes[compiled.instances[i].lane].phase == phase)
      first = std::max(first, sweep.outcomes()[i].first.seconds - course.seconds);
  double least = 0;
  for (const Period& p : period) least = std::max(least, p.least);
  const auto segments = static_cast<double>(compiled.segments);
  const double all = segments * least;
  course.least += sweep.loads().some_empty       ? 0.5 * all
                  : has_unequal_blocks(compiled) ? unequal_blocks_overlap * std::max(first, all)
                                                 : std::max(first, all);
  course.most += segments * first;
}

// Why the figure may be off, and by which fractions of the exact time at most.
struct Doubt {
  std::string why;
  double too_long = 0, too_short = 0;
};

// Where no other bound is known: the farthest of 5,000 random cases and some more
// (tests/predict/simulate/random_case.hpp).
constexpr double seen_too_short = 0.5, lanes_too_long = 0.3, rounds_too_long = 0.2, streams_too_long = 0.35,
                 streams_too_short = 0.3, empty_too_long = 0.35, lanes_too_short = 0.75, early_too_long = 2.5,
                 straddle_too_long = 3.0, straddle_too_short = 0.95;

double with_margin(double share) { return std::min(0.9, 1.5 * share + 0.07); }

// What is delayed may overlap with others than before.
double with_followers(double share) { return std::min(0.9, 2 * share + 0.1); }

// Whether every rank passes each segment on once, to few others, over links that it shares with no other rank of its
// node: what the steady period is right for, from the second segment on.
bool streams(const Compiled& compiled, const Network& network) {
  constexpr std::uint32_t few = 5;
  if (compiled.schedule->ranks() > network.machine().topology->nodes()) return false;
  if (compiled.widest_round > few) return false;
  if (std::any_of(compiled.nodes.begin(), compiled.nodes.end(), [](const FlatNode& n) { return n.loop; })) return false;
  return std::all_of(compiled.instances.begin(), compiled.instances.end(), [&](const Instance& i) {
    const std::int64_t rounds = i.long_lane < 0 ? i.nodes : compiled.long_lanes[i.long_lane].rounds;
    return rounds <= 2 && i.sends <= 1 && (i.window > 1 || compiled.segments == 1);
  });
}

constexpr std::int64_t few_segments = 8; // the first is much of the time

bool has_lanes_at_once(const Compiled& compiled) {
  std::vector<int> lanes(static_cast<std::size_t>(compiled.phases.count()));
  for (const FlatLane& lane : compiled.lanes) ++lanes[static_cast<std::size_t>(lane.phase)];
  return std::any_of(lanes.begin(), lanes.end(), [](int count) { return count > 1; });
}

// Whether a rank sends or receives more in one round than it does in any tree, or in its rounds in flight.
bool has_many_at_once(const Compiled& compiled) {
  constexpr double many_steps = 4;
  const double long_round = 2 * std::log2(compiled.schedule->ranks()) + 2;
  return compiled.widest_round > long_round ||
         std::any_of(compiled.nodes.begin(), compiled.nodes.end(),
                     [&](const FlatNode& node) { return node.loop && compiled.steps_at_once(node) >= many_steps; });
}

// Whether eager messages of a loop go to other nodes, and others within a node: the former may be on their way before
// their receives, and the model lets all go on at the pace of the slowest. Up to 3.2 times the exact time in rings of
// few elements.
bool starts_early(const Compiled& compiled, const Network& network) {
  const Machine& machine = network.machine();
  return (machine.software.receive_cost || machine.software.eager_bytes) &&
         compiled.schedule->ranks() > machine.topology->nodes() &&
         std::any_of(compiled.nodes.begin(), compiled.nodes.end(), [](const FlatNode& n) { return n.loop; });
}

constexpr const char* some_are_empty = "there are fewer elements than messages, so some messages are empty";

// Those that matter, in one sentence with the range that they make together.
void tell_doubts(const Compiled& compiled, const Network& network, const PhaseTotals& course, Prediction& p) {
  std::vector<Doubt> doubts;
  const double apart = p.doubtful_sharing > 0 ? with_margin(p.doubtful_sharing) : 0;
  doubts.push_back(
      {fmt::format("for {:.0f} % of the time, messages on one link overlap only partly; the model treats them as "
                   "fully overlapping",
                   100 * std::min(1.0, p.doubtful_sharing)),
       1 / (1 - apart) - 1, apart > 0.25 ? seen_too_short : 0});
  if (course.meeting > 0)
    doubts.push_back({"messages or computation of one round may overlap with those of the next", 0,
                      with_followers(course.meeting / (course.seconds + course.meeting))});
  const bool simple = !course.some_empty && streams(compiled, network);
  const double overlap = compiled.segments == 1 ? 0 : course.seconds / course.least - 1;
  if (simple && compiled.segments > 1 && compiled.segments <= few_segments)
    doubts.push_back({"neighbouring segments may overlap more than in the middle of the pipeline",
                      std::min(overlap, streams_too_long), streams_too_short});
  if (simple && compiled.segments > few_segments && p.links_waiting_share > 0)
    doubts.push_back({"segments may share other links than in the middle of the pipeline",
                      std::min(overlap, streams_too_long), streams_too_short});
  if (course.some_empty && compiled.segments == 1) doubts.push_back({some_are_empty, empty_too_long, seen_too_short});
  if (starts_early(compiled, network))
    doubts.push_back({"eager messages of a loop may start before their receives", early_too_long, seen_too_short});
  else if (course.some_early)
    doubts.push_back({"segments may leave before their receivers are ready", early_too_long, seen_too_short});
  if (course.some_straddle)
    doubts.push_back({"some messages are short enough to be eager, others are longer by an element", straddle_too_long,
                      straddle_too_short});
  if (has_many_at_once(compiled))
    doubts.push_back({"messages of one round may end at different times", rounds_too_long, seen_too_short});
  if (!simple && has_lanes_at_once(compiled))
    doubts.push_back({"lanes may share a link in some rounds only", lanes_too_long, lanes_too_short});
  if (course.in_queues > 0 || course.beside_queues > 0)
    doubts.push_back({"segments in flight may wait for each other in the queue of a lane",
                      course.seconds / (course.seconds - course.beside_queues) - 1,
                      course.in_queues / (course.seconds + course.in_queues)});
  if (!simple && compiled.segments > 1) {
    doubts.push_back({course.some_empty ? some_are_empty
                                        : "neighbouring segments may overlap more than in the middle of the pipeline",
                      overlap, 0});
    doubts.push_back({"segments may share other links than in the middle of the pipeline", 0,
                      std::clamp(1 - course.seconds / course.most, 0.0, seen_too_short)});
  }
  double too_long = 1, too_short = 0;
  for (const Doubt& d : doubts) {
    too_long *= 1 + d.too_long, too_short = std::max(too_short, d.too_short);
    if (d.too_long > 0.1 || d.too_short > 0.1) p.accuracy += (p.accuracy.empty() ? "" : "; ") + d.why;
  }
  p.too_long = std::max(p.too_long, too_long - 1), p.too_short = std::max(p.too_short, too_short);
  if (p.too_long <= 0.2 && p.too_short <= 0.2) return p.accuracy.clear();
  // More than twice the exact time is told as a multiple of it.
  const std::string longest = p.too_long > 1
                                  ? fmt::format("up to {:.0f} times the exact time", std::ceil(1 + p.too_long))
                                  : fmt::format("up to {:.0f} % too long", std::ceil(100 * p.too_long));
  p.accuracy += fmt::format(": {}, up to {:.0f} % too short", longest, std::ceil(100 * p.too_short));
}

// The model does not see that messages of different levels share resources. It matters if all of them need one
// resource: a node's only link, or the engines of a root whose subtrees send when each has all it waits for. Then less
// time may have passed than the bytes take there.
void raise_to_fullest(const Network& network, const Traffic& traffic, Prediction& p) {
  const Fullest fullest = fullest_of(network, traffic.bytes);
  const double missing = fullest.seconds - p.seconds.value;
  if (missing <= 1e-9 * p.seconds.value || p.phases.empty()) return;
  p.limiting = network.name_of(fullest.resource);
  p.seconds.value += missing;
  p.transfer.value += missing;
  const auto longest = std::max_element(p.phases.begin(), p.phases.end(), [](const Phase& a, const Phase& b) {
    return a.seconds.value < b.seconds.value;
  });
  longest->seconds.value += missing;
  p.too_short = std::max(p.too_short, seen_too_short);
  p.accuracy = fmt::format("the time was raised to the minimum for the bytes of {}: up to {:.0f} % too short",
                           p.limiting, std::ceil(100 * p.too_short));
}

// What most of the time is spent on. Programs without an operation have compute steps in place of reductions.
std::string limiting(const ProgramSet& schedule, const Network& network, const Prediction& p) {
  const double half = p.seconds.value / 2;
  if (p.steady.value > half) {
    const auto longest = std::max_element(p.phases.begin(), p.phases.end(), [](const Phase& a, const Phase& b) {
      return a.seconds.value < b.seconds.value;
    });
    return longest->limiting;
  }
  if (p.latency.value > half) return "latency: message costs, hops and relays";
  if (p.reduction.value > half) return schedule.data->operation ? "reductions, one after another" : "compute steps";
  if (const Fullest fullest = fullest_of(network, p.link_bytes); fullest.seconds > half)
    return network.name_of(fullest.resource);
  return p.transfer.value > half ? "transfers, one after another" : "transfers and latency";
}

// The walk's parts, in proportion.
void take_times(const Prediction& exact, Prediction& p) {
  const double scale = p.seconds.value > 0 ? exact.seconds.value / p.seconds.value : 1;
  p.seconds = exact.seconds, p.is_solved = true;
  for (Seconds* const part : {&p.latency, &p.transfer, &p.reduction, &p.steady}) part->value *= scale;
  for (std::size_t i = 0; i < p.phases.size(); ++i) p.phases[i].seconds = exact.phases[i].seconds;
  p.links_waiting_share = exact.links_waiting_share;
  p.doubtful_sharing = 0;
}

Result<Prediction> walk(Compiled& compiled, const Network& network, bool small) {
  const ProgramSet& schedule = *compiled.schedule;
  Sweep sweep(compiled, network);
  Prediction p;
  p.model = Model::flow;
  PhaseTotals course;
  course.reduced.assign(static_cast<std::size_t>(schedule.ranks()), 0);
  for (std::int32_t phase = 0; phase < compiled.phases.count(); ++phase) {
    if (Status done = sweep.run(phase); !done) return done.error();
    const auto period = end_phase(compiled, network, sweep, phase);
    course.meeting += sweep.meeting();
    course.some_empty = course.some_empty || sweep.loads().some_empty;
    course.some_early = course.some_early || (compiled.segments > 1 && sweep.loads().some_early);
    course.some_straddle = course.some_straddle || sweep.loads().some_straddle;
    if (!period.empty()) bound_phase(compiled, sweep, phase, period, course);
    p.phases.push_back(describe_phase(compiled, network, sweep, phase, period, course));
  }
  if (!compiled.instances.empty()) {
    const PathTime& end = sweep.outcomes()[course.last].total;
    p.seconds = {course.seconds};
    p.latency = {end.latency()}, p.transfer = {end.transfer}, p.reduction = {end.reduction}, p.steady = {end.steady};
    if (course.seconds > 0) p.doubtful_sharing = end.doubt / course.seconds;
    course.meeting = std::max(course.meeting, end.meeting);
  }
  p.compute = {course.reduced.empty() ? 0 : *std::max_element(course.reduced.begin(), course.reduced.end())};
  if (compiled.symmetry) {
    p.ranks_alike = compiled.symmetry->alike();
    unfold(*compiled.symmetry, sweep.traffic());
  }
  describe_links(network, sweep, p);
  if (!small) {
    tell_doubts(compiled, network, course, p);
    p.limiting = limiting(schedule, network, p);
    raise_to_fullest(network, sweep.traffic(), p);
    network.add_setup(compiled.concurrency, p);
    return p;
  }
  const auto exact = predict_exact(schedule, network);
  if (!exact) return exact;
  take_times(*exact, p);
  p.limiting = limiting(schedule, network, p);
  return p;
}

// To walk fewer steps takes less time than to compare the programs of all ranks.
constexpr double few_steps = 3e6;

// If symmetry shortens a walk of all rounds to this many times the steps of a sample, no sample is drawn.
constexpr double exact_is_worth = 6;

// About 4 GiB at 250 bytes each, their messages and the links of these included.
constexpr double most_steps_at_once = 16e6;

// Refuses more rounds at once than memory holds.
Status can_be_held(const Compiled& compiled, bool every_round) {
  const double largest = compiled.steps_at_once();
  if (largest <= most_steps_at_once) return Nothing{};
  return wrong_value(
      fmt::format("the simulation keeps at most {:.0f} million steps in flight at once", most_steps_at_once / 1e6),
      fmt::format("{:.0f} million", largest / 1e6),
      fmt::format("{}use fewer messages at once (--throttle) or fewer ranks",
                  every_round ? "leave --every-round out, " : ""));
}

// Any of the steps may change the rates of all that are in flight.
double exact_work(const Compiled& compiled) {
  std::int64_t window = 1;
  for (const Instance& instance : compiled.instances) window = std::max(window, instance.window);
  const auto segments = static_cast<double>(compiled.segments);
  return compiled.all_steps * segments * compiled.steps_at_once() * static_cast<double>(window);
}

} // namespace

Result<Prediction> predict_flow(const ProgramSet& schedule, const Network& network, const SimulateOptions& options,
                                Seconds bound) {
  const double most_steps = options.most_steps;
  auto compiled = TRY(compile(schedule, &network));
  if (Status can = network.can_offload(*schedule.data, compiled.offloaded); !can) return can.error();
  const bool small = schedule.ranks() <= exact_rank_limit && exact_work(compiled) <= options.most_exact_work;
  const auto walked = [&](Compiled& c) -> Result<Prediction> {
    if (Status can = can_be_held(c, std::isinf(most_steps)); !can) return can.error();
    return walk(c, network, small);
  };
  if (!compiled.long_lanes.empty()) return walked(compiled);
  if (compiled.walked_steps() > std::min(most_steps, few_steps))
    if (auto symmetry = Symmetry::find(compiled, network, exact_is_worth * most_steps)) {
      fold(compiled, std::move(symmetry));
      return walked(compiled);
    }
  const Sampling sampling = plan_sampling(compiled, most_steps);
  if (sampling.loops.empty()) return walked(compiled);
  auto p = predict_sampled(compiled, sampling, bound, walked);
  if (p) p->limiting = limiting(schedule, network, *p); // of all samples
  return p;
}

} // namespace kumihimo::simulation
