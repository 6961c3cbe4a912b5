// Which elements to follow through all ranks where a schedule is too large to execute whole. An element meets only the
// lanes that carry its part of the vector, so every lane gets some of its own, in the first, a middle and the last
// segment. Beside them the first and last element of the first and of the last segment, and some at random.
//
// A lane's own are a sample, too, so that their number does not grow with the ranks. They are taken from the extents
// that its steps name
//   - at the first rank that has data in the lane, at every (ranks / 16)-th and at the last one, not at others;
//   - in the first iteration of each loop, not in later ones;
//   - up to 4 in a segment: the first extent's, whatever its length, then those of extents of at least a 16th of the
//     segment that hold none chosen yet.
// A fault in the data of a part that only other ranks or later iterations name, or that is smaller, is met by chance
// alone (VerifyOptions::samples); matching and deadlock do not depend on the choice.
#pragma once

#include "verify/activation.hpp"
#include "verify/post_condition.hpp"

#include <map>
#include <set>

namespace kumihimo::verify {

class SampledElements {
 public:
  SampledElements(const Subject& schedule, const VerifyOptions& options);

  void add(const Program& program, const Binding& binding); // every rank once
  std::vector<SampledElement> list() const { return {chosen_.begin(), chosen_.end()}; }

 private:
  void add_ends();
  void add_random(const VerifyOptions& options);
  void look_at(const Lane& lane, const Binding& binding);
  void look_at(std::int32_t lane, const Extent& extent, const Binding& binding, Values values);

  const Subject& schedule_;
  std::vector<std::int64_t> segments_; // the first, a middle and the last one; none where no vector is named
  std::int32_t stride_ = 1;            // between the ranks whose programs are looked at whatever their lanes
  std::set<SampledElement> chosen_;
  std::map<std::pair<std::int32_t, std::int64_t>, int> of_lane_; // how many were chosen for a lane, in a segment
  std::set<std::int32_t> known_;                                 // lanes that had some data to look at
};

} // namespace kumihimo::verify
