#include "verify/deadlock_freedom.hpp"

#include "program/segment_start.hpp"

#include <algorithm>
#include <iterator>

namespace kumihimo::verify {

void DeadlockFreedom::add(const Program& program) {
  for (const Lane& lane : program.lanes) {
    lanes_.insert(lane.id.value);
    look_at(lane.body);
  }
  const auto waits = waits_of(program, segments_);
  for (std::size_t l = 0; l < waits.size(); ++l)
    for (const SegmentWait& w : waits[l])
      if (w.behind < segments_.count)
        edges_.insert({program.lanes[l].id.value, program.lanes[w.lane].id.value, w.behind, w.all});
}

void DeadlockFreedom::look_at(const Body& body) {
  for (const Node& node : body) {
    if (const Loop* loop = std::get_if<Loop>(&node)) {
      look_at(loop->body);
      continue;
    }
    for (const Step& step : std::get<Round>(node).steps) {
      offloads_ |= step.kind == StepKind::offload;
      varying_peers_ |= (step.sends() || step.receives()) && step.peer.depends_on(Variable{0});
    }
  }
}

bool DeadlockFreedom::has_phases() const {
  const auto index = [&](std::int32_t id) {
    return static_cast<std::int32_t>(std::distance(lanes_.begin(), lanes_.find(id)));
  };
  std::vector<LaneWait> waits;
  for (const Edge& e : edges_) waits.push_back({index(e.lane), index(e.on), e.all ? Scope::all : Scope::segment});
  return !phases(lanes_.size(), waits).has_cycle;
}

bool DeadlockFreedom::ordered_within_segment() const {
  std::set<std::int32_t> left = lanes_;
  const auto free = [&](std::int32_t lane) {
    return std::none_of(edges_.begin(), edges_.end(), [&](const Edge& e) {
      return e.lane == lane && !e.all && e.behind == 0 && left.contains(e.on);
    });
  };
  for (;;) {
    const auto next = std::find_if(left.begin(), left.end(), free);
    if (next == left.end()) return left.empty();
    left.erase(next);
  }
}

} // namespace kumihimo::verify
