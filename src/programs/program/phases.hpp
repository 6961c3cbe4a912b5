// Phases: which lanes run at the same time and which follow. They come from `after` alone; roles are words for people.
#pragma once

#include "base/ids.hpp"
#include "program/segment_start.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace kumihimo {

class Phases {
 public:
  // The lanes of one more rank.
  void add(const Program& program);
  // Once all ranks are in: a lane is one phase later than any that it waits for in whole, and never earlier than one
  // whose segments it follows.
  void find();

  std::int32_t index_of(LaneId lane) const { return index_.at(lane.value); } // dense, from 0, in the order met
  std::int32_t lanes() const { return static_cast<std::int32_t>(roles_.size()); }
  std::int32_t phase(std::int32_t lane) const { return phase_[lane]; }
  // Lanes coupled by `after` segment are one pipeline; numbered from 0.
  std::int32_t group(std::int32_t lane) const { return group_[lane]; }
  std::int32_t count() const { return static_cast<std::int32_t>(names_.size()); }
  std::int32_t groups() const { return groups_; }
  // Whether pipelines of several lanes run at once in some phase: lanes that follow each other's segments are one.
  bool has_concurrent_lanes() const { return groups() > count(); }
  // For people: what the roles of the phase's lanes say before their first comma, "reduce, tree 0" being of "reduce".
  const std::string& name(std::int32_t phase) const { return names_[phase]; }

 private:
  std::int32_t enter(const Lane& lane);
  void note(const LaneWait& wait, std::size_t nth);
  std::int32_t root(std::int32_t lane);

  std::unordered_map<std::int32_t, std::int32_t> index_; // by lane id
  std::vector<std::string> roles_;
  std::set<LaneWait> waits_;     // of all ranks; as few as there are kinds of lanes
  std::vector<LaneWait> recent_; // of the last rank, in the order written
  std::vector<std::int32_t> phase_, group_;
  std::int32_t groups_ = 0;
  std::vector<std::string> names_;
};

} // namespace kumihimo
