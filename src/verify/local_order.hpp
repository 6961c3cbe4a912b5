// Which segments of which lanes are surely over when another begins at the same rank, from windows and `after` alone.
// A schedule may rely on nothing else for the order of two steps that touch the same bytes.
#pragma once

#include "program/segment_start.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kumihimo::verify {

class LocalOrder {
 public:
  // complete(lane, s, other): segments of `other` below it are complete when segment s of `lane` begins. Lanes that
  // wait for each other have no order; that is a deadlock, which the execution reports.
  LocalOrder(const std::vector<std::int64_t>& windows, const std::vector<std::vector<SegmentWait>>& waits,
             std::int64_t segments);

  std::int64_t complete(std::int32_t lane, std::int64_t segment, std::int32_t other) const {
    return complete_[(lane * kept_ + at(segment)) * lanes_ + other];
  }
  // Whether segment `x_segment` of lane x is complete when segment `y_segment` of lane y begins.
  bool is_complete(std::int32_t x, std::int64_t x_segment, std::int32_t y, std::int64_t y_segment) const {
    return at(x_segment) < complete(y, y_segment, x);
  }

 private:
  // Some of very many segments are left out in the middle, where each is like the one before: waits are for segments at
  // a distance, or for all.
  std::int64_t at(std::int64_t segment) const {
    return segment < kept_ / 2 ? segment : std::max(kept_ / 2, segment - (segments_ - kept_));
  }

  std::int64_t lanes_, segments_, kept_;
  std::vector<std::int32_t> complete_;
};

} // namespace kumihimo::verify
