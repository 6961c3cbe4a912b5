// Change points of a series of results: where its level changed for good (D. Matteson, N. James, A Nonparametric
// Approach for Multiple Change Point Analysis of Multivariate Data, JASA 109, 2014: E-divisive; used for performance
// histories by D. Daly et al., The Use of Change Point Detection to Identify Software Performance Regressions in a
// Continuous Integration System, ICPE 2020).
//
// Two parts X and Y of a series, of n and m values, differ by
//
//   Q(X, Y) = n m / (n + m) (2 E|X - Y|^a - E|X - X'|^a - E|Y - Y'|^a)
//
// with means over all pairs, and a = 1/2: outliers, which every machine has, then weigh less than with a = 1. The best
// split of a series maximises Q over its place and the end of Y, since a level that comes and goes would hide in the
// rest of the series; Y has at least a quarter of it, since short parts are the most alike by chance. The split counts
// if hardly any order of the same values has as large a maximum. Then both sides are searched. No distribution is
// assumed, and single outliers are no change.
//
// O(n^2) memory, O(permutations n^2) time for each change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::measure {

// A change before the value of index `at`, with the share of permutations that look as changed (at least
// 1 / (permutations + 1)).
struct ChangePoint {
  std::int64_t at = 0;
  double chance = 1;
};

struct ChangeSearch {
  std::int64_t shortest = 3; // values on either side of a change: fewer are outliers
  std::int64_t permutations = 999;
  double significance = 0.005;
};

// Ascending by place. `values`: finite, in order of time. Deterministic.
std::vector<ChangePoint> change_points(std::span<const double> values, const ChangeSearch& search = {});

// The largest Q of a series and its t; t = 0 where it is too short. The fast form of what its definition says.
struct BestSplit {
  std::int64_t at = 0;
  double q = 0;
};
BestSplit best_split(std::span<const double> values, std::int64_t shortest);

} // namespace kumihimo::measure
