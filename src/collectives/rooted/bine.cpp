// bine: gather and scatter over the tree of negabinary numbers.
//
// Idea: the tree of trees/bine.cpp. What a rank reaches over its remaining distances is a range of ranks round it, so
//   that the blocks of a subtree are one message, which lies round its rank instead of above it.
// Wins: short blocks where rank numbers tell nearness: the largest messages go over the shortest part of the ring.
// Cost: log2 P alpha + (P - 1) n beta for n bytes a rank.
// Special cases: powers of two alone; any root; equal counts alone, since a relay must know those of its subtree.
// Reference: De Sensi et al., Bine trees, SC 2025.
#include "collectives/negabinary.hpp"
#include "collectives/rooted/range_tree.hpp"

#include <fmt/format.h>

#include <bit>

namespace kumihimo {
namespace {

RangePlace bine_place(std::int64_t P, std::int64_t root, std::int64_t r) {
  const std::int64_t v = floor_mod(r - root, P);
  const auto rank = [&](std::int64_t u) { return floor_mod(u + root, P); };
  const auto reached = [&](std::int64_t u, int steps) {
    return RankRange{rank(SwingReach::over(steps).first(u)), std::int64_t{1} << steps};
  };
  const int levels = std::countr_zero(static_cast<std::uint64_t>(P));
  RangePlace place;
  place.held = {root, P};
  std::int64_t at = 0; // whose subtree holds v
  for (int step = levels - 1; step >= 0; --step) {
    const std::int64_t child = floor_mod(swing_partner(at, step), P);
    if (floor_mod(r - reached(at, step).first, P) >= std::int64_t{1} << step) {
      place = {rank(at), reached(child, step), {}};
      at = child;
    } else if (at == v) {
      place.children.insert(place.children.begin(), {rank(child), reached(child, step)});
    }
  }
  return place;
}

} // namespace

Rows rooted_bine_rows() {
  Variant v;
  v.name = "bine";
  v.summary = "ranges of blocks up or down a tree of negabinary numbers";
  v.cost = "log₂P·α + (P - 1)nβ";
  v.reference = "De Sensi et al., SC 2025";
  v.recipe = [](const Collective& c, const RankSpace&, const Parameters& p) -> Result<Schedule> {
    if (!std::has_single_bit(static_cast<std::uint32_t>(c.ranks)))
      return not_applicable(fmt::format("its tree holds powers of two alone, and there are {} ranks", c.ranks));
    return one_lane(c, p, "tree", [c](ProgramBuilder& program, LaneBuilder& lane, std::int64_t r) {
      write_range_tree(program, lane, c, r, bine_place(c.ranks, c.root.value, r));
    });
  };
  return range_tree_rows(v);
}

} // namespace kumihimo
