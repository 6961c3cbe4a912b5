// For which iterations of a loop does an expression take a value in a range? Solved, not searched: this is what lets a
// check follow one element, or one pair of ranks, through loops of any length.
#pragma once

#include "base/expression.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::verify {

// Appends the ranges of values v of the variable at `depth`, in [0, trips[depth]), for which `e` can lie in `wanted`.
// Shallower variables have values[d]; deeper ones run over their trips. Exact if at most one term of `e` depends on the
// variable and none on deeper ones; otherwise a superset. Sorted, disjoint. O(terms + solutions), and O(size) per
// table.
void append_iteration_ranges(const Expression& e, std::int32_t depth, Range wanted,
                             std::span<const std::int64_t> values, std::span<const std::int64_t> trips,
                             std::vector<Range>& out);

// Sorts and joins ranges.
void unite(std::vector<Range>& ranges);

} // namespace kumihimo::verify
