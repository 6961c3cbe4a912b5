#include "verify/deadlock_freedom.hpp"

#include <algorithm>
#include <map>

namespace kumihimo::verify {

void Progress::add(const Program& program) {
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

void Progress::look_at(const Body& body) {
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

// Whether each lane can be given a class: above those of the lanes whose segments it waits for all of, not below those
// of which it waits for some.
bool Progress::has_classes() const {
  std::map<std::int32_t, std::size_t> classes;
  for (const std::int32_t lane : lanes_) classes[lane] = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Edge& e : edges_) {
      const std::size_t least = classes[e.on] + (e.all ? 1 : 0);
      if (classes[e.lane] >= least) continue;
      if (least > lanes_.size()) return false; // a circle with an `all` in it
      classes[e.lane] = least;
      moved = true;
    }
  }
  return true;
}

bool Progress::ordered_within_segment() const {
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
