// Orders of the rows in which a Gauss-Seidel sweep runs in parallel: the rows of a group do not depend on each other,
// and the groups follow each other. Made from the graph of the matrix alone.
//   levels    the natural order: a row's group is one more than the largest of its lower neighbours' (level
//   scheduling);
//             the result is that of the sequential sweep
//   colours   few groups: greedy colours. A sweep in this order is another preconditioner of the same kind, which takes
//             more iterations
#pragma once

#include "hpcg/matrix.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kumihimo::hpcg {

enum class OrderingKind { levels, colours };
Result<OrderingKind> ordering_named(std::string_view name);

struct Ordering {
  std::vector<std::int32_t> new_of_old, old_of_new;
  std::vector<std::int64_t> group_begin; // in the new numbering; groups + 1
  std::int64_t groups() const { return static_cast<std::int64_t>(group_begin.size()) - 1; }
};

// `coarse`: of the points that the next level has, or empty. Their colour comes last: the backward sweep that ends the
// smoother begins with it. If it came first, it would end the sweep, the residual that the coarse level gets would be
// zero, and multigrid would do nothing.
Ordering make_ordering(const HpcgMatrix& a, OrderingKind kind, const std::vector<std::int32_t>& coarse);

// The point of this level of each point of the next.
std::vector<std::int32_t> coarse_points(const HpcgGrid& fine);

} // namespace kumihimo::hpcg
