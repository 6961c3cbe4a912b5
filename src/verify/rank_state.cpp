#include "verify/rank_state.hpp"

#include "program/cursor.hpp"

#include <algorithm>
#include <map>

namespace kumihimo::verify {

std::shared_ptr<const LocalOrder>
OrderCache::of(const Program& program, const std::vector<std::vector<SegmentWait>>& waits, std::int64_t segments) {
  std::vector<std::int64_t> windows;
  for (const Lane& lane : program.lanes) windows.push_back(std::min(lane.window, segments));
  for (const Entry& e : entries_)
    if (e.windows == windows && e.waits == waits) return e.order;
  auto order = std::make_shared<const LocalOrder>(windows, waits, segments);
  entries_.push_back({std::move(windows), waits, order});
  return order;
}

namespace {
auto at(auto& active, std::int64_t segment) {
  return std::lower_bound(active.begin(), active.end(), segment,
                          [](const auto& a, std::int64_t s) { return a->segment < s; });
}
} // namespace

Activation* SymbolicLaneState::find(std::int64_t segment) const {
  const auto it = at(active, segment);
  return it != active.end() && (*it)->segment == segment ? it->get() : nullptr;
}

Activation* SymbolicLaneState::keep(Activation activation) {
  const auto it = at(active, activation.segment);
  return active.insert(it, std::make_unique<Activation>(std::move(activation)))->get();
}

void SymbolicLaneState::drop(std::int64_t segment) {
  const auto it = at(active, segment);
  if (it != active.end() && (*it)->segment == segment) active.erase(it);
}

RankState::RankState(const Subject& of, Rank r, const ExecutionScope& scope, OrderCache& orders)
    : schedule(of), rank(r), program(of.program(r)), binding(of, r),
      segments(scope.sampled_elements.empty() ? scope.segments : 1) {
  auto waits = waits_of(program, of.segments);
  if (scope.memory || of.post_condition.barrier) order = orders.of(program, waits, of.segments.count);
  if (scope.memory) {
    elements = {binding.input_elements(), binding.output_elements()};
    if (of.data->one_buffer) elements.assign(2, std::max(elements[0], elements[1]));
    for (const Scratch& s : program.scratch)
      elements.push_back(binding.scratch_elements(s, scratch_window(program, s, of.segments)));
  }
  for (std::size_t l = 0; l < program.lanes.size(); ++l) {
    SymbolicLaneState lane;
    lane.id = program.lanes[l].id.value;
    lane.window = program.lanes[l].window;
    lane.waits = std::move(waits[l]);
    lane.complete.assign(segments, false);
    if (of.post_condition.barrier) lane.left_with.assign(segments, -1);
    lanes.push_back(std::move(lane));
  }
}

bool RankState::may_begin(std::int32_t l) const {
  const SymbolicLaneState& lane = lanes[l];
  return may_start(
      {lane.begun, lane.first_incomplete, lane.window}, segments, lane.waits,
      [&](std::int32_t other) { return lanes[other].first_incomplete == segments; },
      [&](std::int32_t other, std::int64_t s) { return bool{lanes[other].complete[s]}; });
}

Activation* RankState::begin(std::int32_t l) {
  SymbolicLaneState& lane = lanes[l];
  const std::int64_t s = segment_number(lane.begun++);
  if (Activation* const known = lane.find(s)) return known;
  if (element_) {
    finish(l, s);
    return nullptr;
  }
  return lane.keep(ActivationExpander(program, binding).full(l, s));
}

void RankState::finish(std::int32_t l, std::int64_t segment) {
  SymbolicLaneState& lane = lanes[l];
  lane.complete[slot(segment)] = true;
  while (lane.first_incomplete < segments && lane.complete[lane.first_incomplete]) ++lane.first_incomplete;
  lane.drop(segment);
}

bool RankState::over() const {
  return std::all_of(lanes.begin(), lanes.end(),
                     [&](const SymbolicLaneState& l) { return l.first_incomplete == segments; });
}

std::int64_t RankState::surely_complete(std::int32_t lane, std::int32_t other) const {
  return std::min(segments, order->complete(lane, lanes[lane].begun - 1, other));
}

void RankState::expand(std::span<const SampledElement> sampled_elements, std::vector<Finding>& findings) {
  sampled_.assign(sampled_elements.begin(), sampled_elements.end());
  const ActivationExpander expander(program, binding);
  for (std::int32_t l = 0; l < static_cast<std::int32_t>(lanes.size()); ++l) {
    std::map<std::int64_t, ElementRun> reach; // by segment
    for (std::size_t f = 0; f < sampled_elements.size(); ++f) {
      const auto [it, fresh] = reach.try_emplace(sampled_elements[f].segment);
      if (fresh) it->second = expander.reach(l, sampled_elements[f].segment);
      const std::int64_t within = sampled_elements[f].element - it->second.first;
      if (within < 0 || within >= it->second.count) continue;
      Activation a = expander.of_element(l, sampled_elements[f], findings);
      if (a.steps.empty()) continue;
      a.nodes.shrink_to_fit(), a.steps.shrink_to_fit(), a.runs.shrink_to_fit();
      touched_.push_back({f, l, std::move(a)});
    }
  }
  touched_.shrink_to_fit();
  program = {};
}

void RankState::follow(std::size_t f) {
  element_ = sampled_[f];
  memory = {};
  for (SymbolicLaneState& lane : lanes) {
    lane.begun = lane.first_incomplete = 0;
    lane.complete.assign(1, false);
    lane.active.clear();
  }
  for (Touched& t : touched_)
    if (t.element == f) lanes[t.lane].keep(std::move(t.activation));
}

void RankState::expand_only_segment() {
  for (std::int32_t l = 0; l < static_cast<std::int32_t>(lanes.size()); ++l)
    lanes[l].keep(ActivationExpander(program, binding).full(l, 0));
  program = {};
}

std::size_t RankState::expanded_bytes() const {
  std::size_t bytes = 0;
  for (const Touched& t : touched_)
    bytes += sizeof(Touched) + t.activation.nodes.size() * sizeof(TreeNode) +
             t.activation.steps.size() * sizeof(StepInstance) + t.activation.runs.size() * sizeof(ElementRun);
  return bytes;
}

void RankState::name_step(const User& user, StepLocation& place) const {
  const Program again = schedule.program(rank);
  std::vector<Finding> ignored;
  const ActivationExpander expander(again, binding);
  const Activation a =
      element_ ? expander.of_element(user.lane, *element_, ignored) : expander.full(user.lane, user.segment);
  place = a.place(user.node, user.step);
}

void RankState::name_first_step(std::int32_t lane, StepLocation& place) const {
  const Program again = schedule.program(rank);
  if (expanded_steps(again.lanes[lane].body) > 1'000'000) return;
  const Activation a = ActivationExpander(again, binding).full(lane, place.segment);
  const auto first = std::find_if(a.nodes.begin(), a.nodes.end(), [](const TreeNode& n) { return n.steps > 0; });
  if (first != a.nodes.end()) place = a.place(static_cast<std::int32_t>(first - a.nodes.begin()), first->first_step);
}

void RankState::locate_last_write(std::int32_t lane, StepLocation& place) const {
  const Program again = schedule.program(rank);
  place.lane = lanes[lane].id;
  for (auto l = lane; l < static_cast<std::int32_t>(lanes.size()) && place.step < 0; ++l) {
    if (expanded_steps(again.lanes[l].body) > 1'000'000) return;
    const Activation a = ActivationExpander(again, binding).full(l, place.segment);
    for (std::size_t n = 0; n < a.nodes.size(); ++n)
      for (std::int32_t s = 0; s < a.nodes[n].steps; ++s)
        if (a.steps[a.nodes[n].first_step + s].target.exists())
          place = a.place(static_cast<std::int32_t>(n), a.nodes[n].first_step + s);
  }
}

bool RankState::shifted_overlap(const Activation& a, const Located& x, const Located& y) const {
  const auto moved = [&](const Located& l, std::int64_t first) { return memory.address(l.buffer, first); };
  if (!y.exists()) return false;
  const auto runs = [&](const Located& l) { return std::span(a.runs).subspan(l.first_run, l.runs); };
  const auto same = [&] {
    if (x.runs != y.runs) return false;
    for (std::int32_t i = 0; i < x.runs; ++i)
      if (moved(x, runs(x)[i].first) != moved(y, runs(y)[i].first) || runs(x)[i].count != runs(y)[i].count)
        return false;
    return true;
  };
  if (moved(x, 0).buffer != moved(y, 0).buffer || same()) return false;
  for (const ElementRun& p : runs(x))
    for (const ElementRun& q : runs(y)) {
      const std::int64_t a0 = moved(x, p.first).first, b0 = moved(y, q.first).first;
      if (a0 < b0 + q.count && b0 < a0 + p.count) return true;
    }
  return false;
}

bool RankState::one_memory() const {
  return binding.one_memory() && (schedule.claims.in_place_safe || schedule.data->one_buffer);
}

std::int32_t RankState::lane_index(std::int32_t id) const {
  for (std::size_t l = 0; l < lanes.size(); ++l)
    if (lanes[l].id == id) return static_cast<std::int32_t>(l);
  return -1;
}

} // namespace kumihimo::verify
