// bine: gather and scatter over the tree of negabinary numbers.
//
// Idea: the tree of bine_tree.cpp. What a rank reaches over its remaining distances is a range of
//   ranks round it. So the blocks of a subtree are one message, which lies round its rank instead of above it.
// Wins: short blocks where rank numbers tell nearness: the largest messages go over the shortest part of the ring.
// Special cases: powers of two alone; any root; equal counts alone, since a relay must know those of its subtree.
// Reference: De Sensi et al., Bine trees, SC 2025.
#include "collectives/patterns/bine_tree.hpp"
#include "collectives/patterns/ranges/range_tree.hpp"

#include <fmt/format.h>

#include <bit>

namespace kumihimo {
namespace {

Result<RangePlace> bine_place_of(std::int32_t P, std::int64_t root, std::int64_t r) {
  if (!std::has_single_bit(static_cast<std::uint32_t>(P)))
    return not_applicable("the algorithm needs a number of ranks that is a power of two", P);
  const auto rank = [&](std::int64_t u) { return floor_mod(u + root, P); };
  const auto reached = [&](std::int64_t u, int steps) {
    return RankRange{rank(SwingReach::over(steps).first(u)), std::int64_t{1} << steps};
  };
  const std::int64_t number = floor_mod(r - root, P);
  const BinePlace bine = bine_place(P, number);
  RangePlace place;
  place.held = bine.parent ? reached(number, bine.steps) : RankRange{root, P};
  if (bine.parent) place.parent = rank(*bine.parent);
  for (const BinePlace::Child& child : bine.children)
    place.children.push_back({rank(child.number), reached(child.number, child.steps)});
  return place;
}

Variant bine_row() {
  using namespace cost;
  return range_tree("ranges of blocks travel up (gather) or down (scatter) a tree of negabinary numbers",
                    {log_P * alpha + (P - 1) * n * beta, powers_of_two}, "De Sensi et al., SC 2025", bine_place_of);
}

} // namespace

Variant gather_bine::row() { return bine_row(); }
Variant scatter_bine::row() { return bine_row(); }

} // namespace kumihimo
