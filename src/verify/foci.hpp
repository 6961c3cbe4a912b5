// Which elements to follow through all ranks where a schedule is too large to execute whole. An element meets only the
// lanes that carry its part of the vector, so every lane gets some of its own: of each part that its programs name, in
// the first, a middle and the last segment. Beside them the vector's ends, and some at random.
#pragma once

#include "verify/activation.hpp"

#include <map>
#include <set>

namespace kumihimo::verify {

class Foci {
 public:
  Foci(const Schedule& schedule, const Options& options);

  void add(const Program& program, const Binding& binding); // every rank once
  std::vector<Focus> list() const { return {chosen_.begin(), chosen_.end()}; }

 private:
  void add_ends();
  void add_random(const Options& options);
  void look_at(const Lane& lane, const Binding& binding);
  void look_at(std::int32_t lane, const Extent& extent, const Binding& binding, Values values);

  const Schedule& schedule_;
  std::vector<std::int64_t> segments_; // the first, a middle and the last one; none where no vector is named
  std::int32_t stride_ = 1;            // between the ranks whose programs are looked at whatever their lanes
  std::set<Focus> chosen_;
  std::map<std::pair<std::int32_t, std::int64_t>, int> of_lane_; // how many were chosen for a lane, in a segment
  std::set<std::int32_t> known_;                                 // lanes that had some data to look at
};

} // namespace kumihimo::verify
