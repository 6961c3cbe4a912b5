// Where one rank stands in the abstract execution: which segments of its lanes have begun and are complete, and its
// memory.
#pragma once

#include "verify/activation.hpp"
#include "verify/execution_types.hpp"
#include "verify/local_order.hpp"
#include "verify/memory.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kumihimo::verify {

// Ranks with the same windows and waits share one order.
class OrderCache {
 public:
  std::shared_ptr<const LocalOrder> of(const Program& program, const std::vector<std::vector<SegmentWait>>& waits,
                                       std::int64_t segments);

 private:
  struct Entry {
    std::vector<std::int64_t> windows;
    std::vector<std::vector<SegmentWait>> waits;
    std::shared_ptr<const LocalOrder> order;
  };
  std::vector<Entry> entries_;
};

struct SymbolicLaneState {
  std::int32_t id = 0;
  std::int64_t window = 1;
  std::vector<SegmentWait> waits;
  std::int64_t begun = 0;            // segments
  std::int64_t first_incomplete = 0; // segments below it are complete
  std::vector<bool> complete;
  std::vector<std::int32_t> left_with;             // what is known when each segment is complete (barrier)
  std::vector<std::unique_ptr<Activation>> active; // by ascending segment: a few, and those of 80,000 ranks at once

  Activation* find(std::int64_t segment) const; // or nothing
  Activation* keep(Activation activation);
  void drop(std::int64_t segment);
};

struct RankState {
  RankState(const Subject& schedule, Rank r, const ExecutionScope& scope, OrderCache& orders);

  // While an element is followed there is one segment, the element's; otherwise those of the scope.
  bool may_begin(std::int32_t lane) const;
  // The segment that the lane begins; null if none of its steps touches the element, and then the segment is over.
  Activation* begin(std::int32_t lane);
  void finish(std::int32_t lane, std::int64_t segment);
  bool over() const;
  // Segments of `other` that are surely complete when the segment last begun by `lane` begins.
  std::int64_t surely_complete(std::int32_t lane, std::int32_t other) const;

  // Makes the program once, and keeps of it the steps that touch each element. Then follow() takes one element after
  // the other, in fresh memory.
  void expand(std::span<const SampledElement> sampled_elements, std::vector<Finding>& findings);
  void follow(std::size_t element); // an index in the sampled_elements expanded
  void expand_only_segment();       // if there is only one: the program is freed
  std::size_t expanded_bytes() const;

  // Names a step used earlier, whose activation may be gone.
  void name_step(const User& user, StepLocation& place) const;

  void name_first_step(std::int32_t lane, StepLocation& place) const; // of the lane's segment (place.segment)
  // Names the last step of the lane's segment (place.segment) that writes anything; of a later lane if it has none.
  void locate_last_write(std::int32_t lane, StepLocation& place) const;

  // Whether two places share bytes without being the same runs.
  bool shifted_overlap(const Activation& a, const Located& x, const Located& y) const;

  std::int32_t lane_index(std::int32_t id) const; // -1: the rank lacks it
  bool one_memory() const;                        // input and output are, and the schedule is to bear it
  std::int64_t segment_number(std::int64_t s) const { return element_ ? element_->segment : s; } // of the s-th executed

  const Subject& schedule;
  Rank rank;
  Program program;
  Binding binding;
  std::int64_t segments;              // to execute
  std::vector<std::int64_t> elements; // of each buffer: input, output, scratch 0, ...
  std::vector<SymbolicLaneState> lanes;
  std::shared_ptr<const LocalOrder> order;
  SymbolicMemory memory;

 private:
  struct Touched {
    std::size_t element;
    std::int32_t lane;
    Activation activation;
  };
  std::int64_t slot(std::int64_t segment) const { return element_ ? 0 : segment; }
  std::vector<SampledElement> sampled_;
  std::vector<Touched> touched_;          // lane by lane, within one by element; without those that are empty
  std::optional<SampledElement> element_; // followed now
};

} // namespace kumihimo::verify
