#include "verify/claims.hpp"

#include "program/binding.hpp"
#include "program/cursor.hpp"
#include "program/segment_start.hpp"
#include "verify/enumerate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace kumihimo::verify {
namespace {

// The link from one place to a neighbouring one, or -1. On an axis of length 2, + and - are one cable.
std::int64_t link_between(const Shape& shape, std::int32_t from, std::int32_t to) {
  std::int64_t link = -1;
  for (std::int32_t a = 0; a < shape.dimensions(); ++a) {
    const std::int32_t n = shape.length(a), x = shape.coordinate(from, a), y = shape.coordinate(to, a);
    if (x == y) continue;
    if (link >= 0) return -1;
    const bool wraps = shape.axes()[a].wraps;
    const bool plus = y == x + 1 || (wraps && (x + 1) % n == y), minus = y == x - 1 || (wraps && (y + 1) % n == x);
    if (!plus && !minus) return -1;
    link = a * 2 + (plus ? 0 : 1);
  }
  return link;
}

constexpr std::int64_t most_peers = 100'000; // iterations listed for a step's peers
constexpr std::int64_t most_values = 20'000; // values tried where bounds do not decide

// Peers of a send that loops vary: all of them; nothing where they are too many to list.
std::optional<std::set<std::int32_t>> peers_of(const Expression& peer, Values trips) {
  std::set<std::int32_t> peers;
  const bool all = for_values(shortened(trips, peer), most_peers, [&](Values values) {
    peers.insert(static_cast<std::int32_t>(peer.evaluate(values)));
    return true;
  });
  if (!all) return std::nullopt;
  return peers;
}

// Whether it never has data; only what was tried everywhere counts.
bool is_empty(const Step& step, const Binding& binding, Values trips) {
  if (step.is_signal()) return false;
  bool some = false;
  const bool all = for_values(trips, most_values, [&](Values values) {
    some = binding.length(step.extent(), values) > 0;
    return !some;
  });
  return all && !some;
}

} // namespace

LinkClaims::LinkClaims(const Subject& schedule, const RankSpace& space, std::size_t most_findings)
    : schedule_(schedule), space_(space), most_(most_findings) {}

void LinkClaims::add(const Program& program, Rank rank, std::vector<Finding>& findings) {
  const Claims& claims = schedule_.claims;
  if (!claims.neighbours_only && !claims.link_disjoint) return;
  const Binding binding(schedule_, rank);
  const std::int32_t from = space_.place(rank);
  std::map<std::int64_t, std::map<LaneId, StepLocation>> used; // of each outgoing link
  for (const Lane& lane : program.lanes) {
    std::int32_t written = 0;
    for_each_round_as_written(lane, schedule_.segments, [&](const Round& round, Values trips) {
      const std::int32_t number = written++;
      for (std::size_t j = 0; j < round.steps.size(); ++j) {
        const Step& step = round.steps[j];
        if (!step.sends()) continue;
        StepLocation place{rank.value, lane.id.value, -1, number, static_cast<std::int32_t>(j), {}, step.kind, -1};
        const auto peers = peers_of(step.peer, trips);
        if (!peers) {
          if (findings.size() < most_)
            findings.push_back(
                {Check::claim, place, "cannot be proven to send between neighbours only: too many iterations"});
          continue;
        }
        for (const std::int32_t peer : *peers) {
          if (peer == rank.value || findings.size() >= most_) continue;
          place.peer = peer;
          const std::int64_t link = link_between(space_.shape(), from, space_.place(Rank{peer}));
          if (link < 0 && is_empty(step, binding, trips)) continue;
          if (link < 0) {
            findings.push_back({Check::claim, place,
                                fmt::format("claims neighbours only, but the two ranks are not neighbours on {}",
                                            space_.shape().text())});
            continue;
          }
          used[link].emplace(lane.id, place);
        }
      }
    });
  }
  if (!claims.link_disjoint) return;
  const std::vector<std::int32_t> phase = phases(program.lanes.size(), lane_waits(program)).of_lane;
  const auto phase_of = [&](LaneId id) {
    const auto at = std::find_if(program.lanes.begin(), program.lanes.end(), [&](const Lane& l) { return l.id == id; });
    return phase[at - program.lanes.begin()];
  };
  for (const auto& [link, lanes] : used)
    for (auto a = lanes.begin(); a != lanes.end(); ++a)
      for (auto b = std::next(a); b != lanes.end(); ++b) {
        if (findings.size() >= most_) return;
        if (phase_of(a->first) != phase_of(b->first)) continue;
        findings.push_back({Check::claim, b->second,
                            fmt::format("claims link-disjoint lanes, but lane {} uses the same link in the same phase",
                                        a->first.value)});
      }
}

namespace {

// Rank 0's program as it would be at `place`, by translation; compared with what is there.
class TranslationSymmetry {
 public:
  TranslationSymmetry(const RankSpace& space, std::int32_t place, Segments segments)
      : space_(space), place_(place), segments_(segments) {}

  bool same(const Program& first, const Program& here) const {
    if (first.lanes.size() != here.lanes.size()) return false;
    for (std::size_t l = 0; l < first.lanes.size(); ++l) {
      const Lane &a = first.lanes[l], &b = here.lanes[l];
      std::vector<std::int64_t> trips{segments_.count};
      if (a.id != b.id || a.window != b.window || a.after != b.after || !same(a.body, b.body, trips)) return false;
    }
    return true;
  }

 private:
  bool same(const Body& a, const Body& b, std::vector<std::int64_t>& trips) const {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i].index() != b[i].index()) return false;
      if (const Round* round = std::get_if<Round>(&a[i])) {
        if (!same(*round, std::get<Round>(b[i]), trips)) return false;
        continue;
      }
      const Loop &x = std::get<Loop>(a[i]), &y = std::get<Loop>(b[i]);
      if (x.trip != y.trip || x.in_flight != y.in_flight || x.together != y.together) return false;
      trips.push_back(x.trip);
      const bool equal = same(x.body, y.body, trips);
      trips.pop_back();
      if (!equal) return false;
    }
    return true;
  }

  bool same(const Round& a, const Round& b, Values trips) const {
    if (a.steps.size() != b.steps.size() || !(a.gap == b.gap)) return false;
    for (std::size_t j = 0; j < a.steps.size(); ++j) {
      const Step &s = a.steps[j], &t = b.steps[j];
      if (s.kind != t.kind || s.arriving_left != t.arriving_left) return false;
      if ((s.sends() || s.receives()) && !same_peers(s.peer, t.peer, trips)) return false;
      for (const auto& [x, y] : {std::pair(&s.source, &t.source), {&s.right, &t.right}, {&s.target, &t.target}})
        if (!(x->buffer == y->buffer)) return false;
    }
    return true;
  }

  bool same_peers(const Expression& first, const Expression& here, Values trips) const {
    bool same = true;
    const bool all = for_values(shortened(trips, first, here), most_peers, [&](Values values) {
      const auto peer = Rank{static_cast<std::int32_t>(first.evaluate(values))};
      same = moved(space_.place(peer)) == space_.place(Rank{static_cast<std::int32_t>(here.evaluate(values))});
      return same;
    });
    return same && all;
  }

  // StepLocation p of rank 0's program, translated.
  std::int32_t moved(std::int32_t p) const {
    const Shape& shape = space_.shape();
    const std::int32_t origin = space_.place(Rank{0});
    for (std::int32_t a = 0; a < shape.dimensions(); ++a)
      p = shape.shifted(p, a, shape.coordinate(place_, a) - shape.coordinate(origin, a));
    return p;
  }

  const RankSpace& space_;
  std::int32_t place_;
  Segments segments_;
};

} // namespace

std::int32_t first_asymmetric_rank(const ProgramSet& schedule, const RankSpace& space) {
  const Program first = schedule.program(Rank{0});
  for (std::int32_t r = 1; r < schedule.ranks(); ++r)
    if (!TranslationSymmetry(space, space.place(Rank{r}), schedule.segments).same(first, schedule.program(Rank{r})))
      return r;
  return -1;
}

} // namespace kumihimo::verify
