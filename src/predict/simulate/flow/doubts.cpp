#include "simulate/flow/doubts.hpp"

#include "fluid/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kumihimo::simulation {
namespace {

bool has_loops(const Compiled& compiled) {
  return std::any_of(compiled.nodes.begin(), compiled.nodes.end(), [](const FlatNode& n) { return n.loop; });
}

// Whether every rank passes each segment on once, to few others, over links that it shares with no other rank of its
// node: what the steady period is right for, from the second segment on.
bool streams(const Compiled& compiled, const NetworkPaths& network) {
  constexpr std::uint32_t few = 5;
  if (compiled.schedule->ranks() > network.machine().topology->nodes()) return false;
  if (compiled.widest_round > few || has_loops(compiled)) return false;
  return std::all_of(compiled.instances.begin(), compiled.instances.end(), [&](const Instance& i) {
    const std::int64_t rounds = i.long_lane < 0 ? i.nodes : compiled.long_lanes[i.long_lane].rounds;
    return rounds <= 2 && i.sends <= 1 && (i.window > 1 || compiled.segments == 1);
  });
}

bool has_lanes_at_once(const Compiled& compiled) {
  std::vector<int> lanes(static_cast<std::size_t>(compiled.phases.count()));
  for (const FlatLane& lane : compiled.lanes) ++lanes[static_cast<std::size_t>(lane.phase)];
  return std::any_of(lanes.begin(), lanes.end(), [](int count) { return count > 1; });
}

// Whether a rank sends or receives more in one round than it does in any tree, or in its rounds in flight.
bool has_many_at_once(const Compiled& compiled, double many_steps) {
  const double long_round = 2 * std::log2(compiled.schedule->ranks()) + 2;
  return compiled.widest_round > long_round ||
         std::any_of(compiled.nodes.begin(), compiled.nodes.end(),
                     [&](const FlatNode& node) { return node.loop && compiled.steps_at_once(node) >= many_steps; });
}

// Whether eager messages of a loop go to other nodes, and others within a node: the former may be on their way before
// their receives, and the model lets all go on at the pace of the slowest. Up to 3.2 times the exact time in rings of
// few elements.
bool starts_early(const Compiled& compiled, const NetworkPaths& network) {
  const Machine& machine = network.machine();
  return (machine.software.receive_cost || machine.software.eager_bytes) &&
         compiled.schedule->ranks() > machine.topology->nodes() && has_loops(compiled);
}

} // namespace

std::vector<Doubt> doubts(const Compiled& compiled, const NetworkPaths& network, const Course& course,
                          const FittedNumbers& fitted) {
  constexpr const char* some_are_empty = "there are fewer elements than messages, so some messages are empty";
  constexpr const char* neighbours_overlap =
      "neighbouring segments may overlap more than in the middle of the pipeline";
  constexpr const char* other_links = "segments may share other links than in the middle of the pipeline";
  constexpr double most = 0.9; // too short, that sharing or late overlap may be
  const double usual = fitted.usual_too_short;
  std::vector<Doubt> found;

  const double shared = course.sharing_share();
  const double apart = shared > 0 ? std::min(most, fitted.sharing_factor * shared + fitted.sharing_margin) : 0;
  found.push_back({fmt::format("for {:.0f} % of the time, messages on one link overlap only partly; the model treats "
                               "them as fully overlapping",
                               100 * std::min(1.0, shared)),
                   1 / (1 - apart) - 1, apart > 0.25 ? usual : 0});
  if (course.late_overlap > 0) {
    const double share = course.late_overlap / (course.seconds + course.late_overlap);
    found.push_back({"messages or computation of one round may overlap with those of the next", 0,
                     std::min(most, fitted.late_overlap_factor * share + fitted.late_overlap_margin)});
  }
  const bool simple =
      !course.empty_messages && (course.by_periods || compiled.segments == 1) && streams(compiled, network);
  const double overlap = course.by_periods ? course.seconds / course.least - 1 : 0;
  const bool few = static_cast<double>(compiled.segments) <= fitted.few_segments;
  if (simple && course.by_periods && (few || course.links_are_shared))
    found.push_back(
        {few ? neighbours_overlap : other_links, std::min(overlap, fitted.streams_too_long), fitted.streams_too_short});
  if (compiled.segments > 1 && !course.by_periods)
    found.push_back({"segments in flight may share other links than those of their level", fitted.walked_too_long,
                     fitted.walked_too_short});
  if (course.empty_messages && !course.by_periods) found.push_back({some_are_empty, 0, usual});
  if (starts_early(compiled, network))
    found.push_back({"eager messages of a loop may start before their receives", fitted.early_too_long, usual});
  else if (course.early_messages && compiled.segments > 1)
    found.push_back({"segments may leave before their receivers are ready", fitted.early_too_long, usual});
  if (course.straddles_limits)
    found.push_back({"some messages are short enough to be eager, others are longer by an element", 0,
                     fitted.straddling_too_short});
  if (has_many_at_once(compiled, fitted.many_steps))
    found.push_back({"messages of one round may end at different times", 0, usual});
  if (!simple && has_lanes_at_once(compiled))
    found.push_back({"lanes may share a link in some rounds only", fitted.lanes_too_long, fitted.lanes_too_short});
  if (course.in_queues > 0 || course.beside_queues > 0)
    found.push_back({"segments in flight may wait for each other in the queue of a lane",
                     course.seconds / (course.seconds - course.beside_queues) - 1,
                     course.in_queues / (course.seconds + course.in_queues)});
  if (!simple && course.by_periods) {
    found.push_back({course.empty_messages ? some_are_empty : neighbours_overlap, overlap, 0});
    found.push_back({other_links, 0, std::clamp(1 - course.seconds / course.most, 0.0, usual)});
  }
  return found;
}

namespace {

// Sets the range. Returns the reasons that matter.
std::string set_range(const std::vector<Doubt>& doubts, SchedulePrediction& p) {
  std::string reasons;
  double too_long = 1, too_short = 0;
  for (const Doubt& d : doubts) {
    too_long *= 1 + d.too_long, too_short = std::max(too_short, d.too_short);
    if (d.too_long > 0.1 || d.too_short > 0.1) reasons += (reasons.empty() ? "" : "; ") + d.why;
  }
  p.too_long = std::max(p.too_long, too_long - 1), p.too_short = std::max(p.too_short, too_short);
  return reasons;
}

double percent(double share) { return std::ceil(100 * share); }

} // namespace

SchedulePrediction stated(SchedulePrediction p, const std::vector<Doubt>& doubts) {
  const std::string reasons = set_range(doubts, p);
  if (p.too_long <= 0.2 && p.too_short <= 0.2) return p;
  // More than twice the exact time is stated as a multiple of it.
  const std::string longest = p.too_long > 1
                                  ? fmt::format("up to {:.0f} times the exact time", std::ceil(1 + p.too_long))
                                  : fmt::format("up to {:.0f} % too long", percent(p.too_long));
  p.accuracy = fmt::format("{}: {}, up to {:.0f} % too short", reasons, longest, percent(p.too_short));
  return p;
}

SchedulePrediction stated_as_minimum(SchedulePrediction p, const std::vector<Doubt>& doubts,
                                     const FittedNumbers& fitted) {
  set_range(doubts, p);
  p.too_short = std::max(p.too_short, fitted.usual_too_short);
  p.accuracy = fmt::format("the time was raised to the minimum for the bytes of {}: up to {:.0f} % too short",
                           p.limiting, percent(p.too_short));
  return p;
}

} // namespace kumihimo::simulation
