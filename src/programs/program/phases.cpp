#include "program/phases.hpp"

#include <numeric>
#include <utility>

namespace kumihimo {

std::int32_t Phases::enter(const Lane& lane) {
  const auto [at, fresh] = index_.try_emplace(lane.id.value, static_cast<std::int32_t>(roles_.size()));
  if (fresh) roles_.push_back(lane.role.substr(0, lane.role.find(',')));
  return at->second;
}

void Phases::note(const LaneWait& wait, std::size_t nth) {
  if (nth < recent_.size() && recent_[nth] == wait) return; // as at the rank before
  recent_.resize(nth);
  recent_.push_back(wait);
  waits_.insert(wait);
}

void Phases::add(const Program& program) {
  std::size_t waits = 0;
  for (const Lane& lane : program.lanes) enter(lane);
  for (const LaneWait& w : lane_waits(program))
    note({index_of(program.lanes[w.lane].id), index_of(program.lanes[w.on].id), w.scope}, waits++);
}

std::int32_t Phases::root(std::int32_t lane) {
  while (group_[lane] != lane) lane = group_[lane] = group_[group_[lane]];
  return lane;
}

void Phases::find() {
  phase_ = phases(roles_.size(), std::vector(waits_.begin(), waits_.end())).of_lane;
  group_.resize(roles_.size());
  std::iota(group_.begin(), group_.end(), 0);
  for (const LaneWait& w : waits_)
    if (w.scope == Scope::segment) group_[root(w.lane)] = root(w.on);
  std::unordered_map<std::int32_t, std::int32_t> number;
  std::vector<std::int32_t> numbered;
  for (std::int32_t lane = 0; lane < lanes(); ++lane)
    numbered.push_back(number.try_emplace(root(lane), static_cast<std::int32_t>(number.size())).first->second);
  group_ = std::move(numbered);
  groups_ = static_cast<std::int32_t>(number.size());

  std::set<std::pair<std::int32_t, std::string>> named;
  for (std::int32_t lane = 0; lane < lanes(); ++lane) {
    const auto phase = static_cast<std::size_t>(phase_[lane]);
    if (phase >= names_.size()) names_.resize(phase + 1);
    if (named.emplace(phase_[lane], roles_[lane]).second)
      names_[phase] += (names_[phase].empty() ? "" : " and ") + roles_[lane];
  }
}

} // namespace kumihimo
