#include "verify/waiting.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace kumihimo::verify {

std::size_t MessageKeyHash::operator()(const StepMessageKey& k) const noexcept {
  const auto ends = static_cast<std::uint64_t>(k.from) << 32 | static_cast<std::uint32_t>(k.to);
  const auto which = static_cast<std::uint64_t>(k.lane) << 33 | static_cast<std::uint64_t>(k.ordinal) << 1 |
                     static_cast<std::uint64_t>(k.signal);
  return mixed(mixed(ends, which), static_cast<std::uint64_t>(k.segment));
}

StepMessageKey message_key(const End& end) {
  const Activation& a = *end.activation;
  const StepInstance& s = end.instance();
  const std::int32_t from = s.sends() ? a.rank : s.peer, to = s.sends() ? s.peer : a.rank;
  return {from, to, a.lane_id, s.ordinal, a.segment, s.is_signal()};
}
StepMessageKey offload_key(const End& end) {
  const Activation& a = *end.activation;
  return {-1, -1, a.lane_id, end.instance().ordinal, a.segment, false};
}

namespace {

// One segment of one lane of one rank.
struct SegmentPosition {
  std::int32_t rank = 0, lane = 0; // lane: index in the rank's program
  std::int64_t segment = 0;
  auto operator<=>(const SegmentPosition&) const = default;
};

struct WaitLink {
  StepLocation place;
  std::string why;
  std::optional<SegmentPosition> next; // what it waits for; nothing: it never comes
};

class WaitChain {
 public:
  WaitChain(const std::vector<std::unique_ptr<RankState>>& ranks, const Posted& posted, const Offloaded& offloads)
      : ranks_(ranks) {
    for (const auto& [key, meeting] : posted)
      for (const End* end : {&meeting.send, &meeting.receive})
        if (end->activation) waiting_.emplace(end->activation, *end);
    for (const auto& [key, ends] : offloads)
      for (const End& end : ends) waiting_.emplace(end.activation, end);
  }

  Finding from(SegmentPosition spot) const {
    std::map<SegmentPosition, std::size_t> seen;
    std::vector<WaitLink> links;
    for (;;) {
      const auto [it, fresh] = seen.emplace(spot, links.size());
      if (!fresh) return cycle(links, it->second);
      links.push_back(link(spot));
      if (!links.back().next) return lonely(links);
      spot = *links.back().next;
    }
  }

 private:
  WaitLink link(const SegmentPosition& spot) const {
    const RankState& state = *ranks_[spot.rank];
    const SymbolicLaneState& lane = state.lanes[spot.lane];
    const Activation* active = lane.find(spot.segment);
    if (active && !active->states.empty()) return at_step(spot, *active);
    StepLocation place;
    place.rank = spot.rank, place.lane = lane.id, place.segment = spot.segment;
    const auto held_by = [&](std::int32_t other, std::int64_t segment, std::string why) {
      return WaitLink{place, std::move(why), SegmentPosition{spot.rank, other, segment}};
    };
    if (lane.first_incomplete < lane.begun && lane.begun - lane.first_incomplete >= lane.window)
      return held_by(spot.lane, state.segment_number(lane.first_incomplete),
                     fmt::format("has not started: its window of {} is full", lane.window));
    for (const SegmentWait& w : lane.waits) {
      const SymbolicLaneState& other = state.lanes[w.lane];
      const std::int64_t s = lane.begun - w.behind;
      if (w.all && other.first_incomplete < state.segments)
        return held_by(w.lane, state.segment_number(other.first_incomplete),
                       fmt::format("has not started: it waits for all segments of lane {}", other.id));
      if (!w.all && s >= 0 && !other.complete[s])
        return held_by(w.lane, state.segment_number(s), fmt::format("has not started: it waits for lane {}", other.id));
    }
    return WaitLink{place, "has ended without a matching step", std::nullopt};
  }

  WaitLink at_step(const SegmentPosition& spot, const Activation& a) const {
    const auto it = waiting_.find(&a);
    if (it == waiting_.end()) return WaitLink{a.place(0, -1), "does not end", std::nullopt};
    const End& end = it->second;
    const StepInstance& s = end.instance();
    if (s.kind == StepKind::offload) return WaitLink{end.place(), "waits for the other ranks' offload", std::nullopt};
    if (s.peer < 0 || s.peer >= static_cast<std::int32_t>(ranks_.size()))
      return WaitLink{end.place(), "no such rank", std::nullopt};
    const std::int32_t lane = ranks_[s.peer]->lane_index(a.lane_id);
    if (lane < 0) return WaitLink{end.place(), fmt::format("rank {} has no lane {}", s.peer, a.lane_id), std::nullopt};
    const SymbolicLaneState& partner = ranks_[s.peer]->lanes[lane];
    const bool over = partner.complete[partner.complete.size() == 1 ? 0 : spot.segment];
    if (over)
      return WaitLink{end.place(), fmt::format("rank {} has no {} for it", s.peer, s.sends() ? "receive" : "send"),
                      std::nullopt};
    return WaitLink{end.place(), "waits", SegmentPosition{s.peer, lane, spot.segment}};
  }

  static std::string text(const WaitLink& l) { return fmt::format("{} {}", l.place.text(), l.why); }

  Finding cycle(const std::vector<WaitLink>& links, std::size_t first) const {
    std::string s = fmt::format("a cycle of {} waits", links.size() - first);
    for (std::size_t i = first; i < links.size() && i < first + 6; ++i) s += "; " + text(links[i]);
    if (links.size() - first > 6) s += "; ...";
    // Name a step that waits where there is one; else the first of those that cannot start.
    for (std::size_t i = first; i < links.size(); ++i)
      if (links[i].place.step >= 0) return {Check::deadlock, links[i].place, s};
    StepLocation place = links[first].place;
    const RankState& state = *ranks_[place.rank];
    state.name_first_step(state.lane_index(place.lane), place);
    return {Check::deadlock, std::move(place), s};
  }

  Finding lonely(const std::vector<WaitLink>& links) const {
    const WaitLink& last = links.back();
    return {Check::matching, last.place, "its partner never starts: " + last.why};
  }

  const std::vector<std::unique_ptr<RankState>>& ranks_;
  std::multimap<const Activation*, End> waiting_;
};

} // namespace

std::vector<Finding> stuck_findings(const std::vector<std::unique_ptr<RankState>>& ranks, const Posted& posted,
                                    const Offloaded& offloads) {
  const WaitChain chain(ranks, posted, offloads);
  for (const auto& state : ranks)
    for (std::size_t l = 0; state && l < state->lanes.size(); ++l) { // null: a rank that is not executed
      const SymbolicLaneState& lane = state->lanes[l];
      if (lane.first_incomplete == state->segments) continue;
      const std::int64_t s = state->segment_number(lane.first_incomplete);
      return {chain.from({state->rank.value, static_cast<std::int32_t>(l), s})};
    }
  return {};
}

} // namespace kumihimo::verify
