// The axes of a torus that algorithms go along, one after the other.
#pragma once

#include "base/result.hpp"
#include "collectives/parameters.hpp"
#include "program/program.hpp"
#include "topology/rank_space.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo {

struct RingAxes {
  std::vector<std::int32_t> axes; // those longer than 1
  bool both_ways = true;          // all are rings of 3 or more, so that each direction has links of its own

  std::int64_t number() const { return static_cast<std::int64_t>(axes.size()); }
};

// Axes along which the ring algorithms' lanes go.
struct RingPlan {
  RankSpace space;
  std::vector<std::int32_t> axes;
  std::int64_t lanes;
  Segments segments;
  std::int64_t window;
};

enum class RankOrder : std::uint8_t { any, row_major };

// Errors (not applicable): the space is no torus, has a mesh axis, or its ranks are in another order.
Result<RingAxes> ring_axes(const RankSpace& space, RankOrder order);

// The lanes of rotated rings that share the data: the parameter `trees`, by default the most that use different links.
// Error (not applicable): more of them.
Result<std::int64_t> rotated_lanes(const RingAxes& rings, const RankSpace& space, const Parameters& p);

} // namespace kumihimo
