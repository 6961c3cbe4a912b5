#include "collectives/patterns/ring_axes.hpp"

#include <fmt/format.h>

namespace kumihimo {

Result<RingAxes> ring_axes(const RankSpace& space, RankOrder order) {
  if (!space.has_shape() || (order == RankOrder::row_major && !space.row_major()))
    return not_applicable(order == RankOrder::any ? "the algorithm needs a torus"
                                                  : "the algorithm needs a torus with its ranks in order",
                          space.name());
  RingAxes rings;
  for (std::int32_t a = 0; a < space.shape().dimensions(); ++a) {
    const Axis& axis = space.shape().axes()[static_cast<std::size_t>(a)];
    if (axis.length == 1) continue;
    if (!axis.wraps && axis.length > 2)
      return not_applicable("the algorithm needs axes that close to rings, not mesh axes", space.shape().text());
    rings.axes.push_back(a);
    rings.both_ways &= axis.is_ring();
  }
  return rings;
}

Result<std::int64_t> rotated_lanes(const RingAxes& rings, const RankSpace& space, const Parameters& p) {
  const std::int64_t most = rings.both_ways ? 2 * rings.number() : rings.number();
  const std::int64_t lanes = p.trees.value_or(most);
  if (lanes > most)
    return not_applicable(fmt::format("trees must be at most {} on shape {}", most, space.shape().text()), lanes);
  return lanes;
}

} // namespace kumihimo
