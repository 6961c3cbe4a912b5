#include "verify/sampled_elements.hpp"

#include "program/cursor.hpp"
#include "verify/post_condition.hpp"

#include <algorithm>
#include <random>

namespace kumihimo::verify {
namespace {

constexpr int most_of_a_lane = 4;       // in a segment
constexpr std::int64_t smallest = 16;   // an extent of less than a 16th of its segment is one of many alike
constexpr std::int32_t some_ranks = 16; // looked at beside the first that has a lane

} // namespace

SampledElements::SampledElements(const Subject& schedule, const VerifyOptions& options)
    : schedule_(schedule), stride_(std::max(1, schedule.ranks() / some_ranks)) {
  if (!schedule.post_condition.by_element || schedule.data->elements == 0) return;
  const std::int64_t count = schedule.segments.count;
  segments_ = {0, count / 2, count - 1};
  segments_.erase(std::unique(segments_.begin(), segments_.end()), segments_.end());
  add_ends();
  add_random(options);
}

void SampledElements::add_ends() {
  const std::int64_t n = schedule_.data->elements, count = schedule_.segments.count;
  for (const std::int64_t segment : {std::int64_t{0}, count - 1}) {
    const std::int64_t begin = part_begin(segment, count, n), end = part_begin(segment + 1, count, n);
    if (begin < end) chosen_.insert({segment, begin}), chosen_.insert({segment, end - 1});
  }
}

void SampledElements::add_random(const VerifyOptions& options) {
  const std::int64_t n = schedule_.data->elements, count = schedule_.segments.count;
  std::mt19937_64 random(options.seed);
  for (std::int32_t i = 0; i < options.samples; ++i) {
    const std::int64_t element = std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
    chosen_.insert({static_cast<std::int64_t>(((static_cast<Wide>(element) + 1) * count - 1) / n), element});
  }
}

void SampledElements::add(const Program& program, const Binding& binding) {
  if (segments_.empty()) return;
  const bool one_of_some = binding.rank().value % stride_ == 0 || binding.rank().value + 1 == schedule_.ranks();
  for (const Lane& lane : program.lanes)
    if (one_of_some || !known_.contains(lane.id.value)) look_at(lane, binding);
}

void SampledElements::look_at(const Lane& lane, const Binding& binding) {
  for_each_round_as_written(lane, schedule_.segments, [&](const Round& round, Values trips) {
    std::vector<std::int64_t> values(trips.size(), 0);
    for (const Step& step : round.steps) {
      if (!step.has_data() || std::count(trips.begin(), trips.end(), 0) > 0) continue;
      for (const std::int64_t segment : segments_) {
        values[0] = segment;
        look_at(lane.id.value, step.extent(), binding, values);
      }
    }
  });
}

// Small ones pass by in turn, over the iterations of a loop or from rank to rank: one element of all tells.
void SampledElements::look_at(std::int32_t lane, const Extent& extent, const Binding& binding, Values values) {
  const std::int64_t segment = values[0], n = schedule_.data->elements, all = schedule_.segments.count;
  int& chosen = of_lane_[{lane, segment}];
  if (chosen == most_of_a_lane) return;
  std::vector<ElementRun> runs;
  binding.append_runs(extent, values, runs);
  if (runs.empty()) return;
  known_.insert(lane);
  std::int64_t length = 0;
  for (const ElementRun& run : runs) length += run.count;
  if (chosen > 0 && length * smallest < part_begin(segment + 1, all, n) - part_begin(segment, all, n)) return;
  for (const ElementRun& run : runs) {
    const auto at = chosen_.lower_bound({segment, run.first});
    if (at != chosen_.end() && at->segment == segment && at->element < run.first + run.count) return;
  }
  // Not the same place of every segment.
  const ElementRun& run = segment == 0 ? runs.front() : runs.back();
  const std::int64_t shift = segment == 0 ? 0 : segment == segments_.back() ? run.count - 1 : run.count / 2;
  chosen_.insert({segment, run.first + shift});
  ++chosen;
}

} // namespace kumihimo::verify
