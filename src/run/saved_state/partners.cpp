#include "saved_state/partners.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace kumihimo::saved_state {

std::vector<std::int32_t> partners_of(const std::vector<std::int64_t>& node_of_rank) {
  const std::size_t ranks = node_of_rank.size();
  std::vector<std::int32_t> order(ranks), partner(ranks);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int32_t rank) { return node_of_rank[static_cast<std::size_t>(rank)]; });
  std::ptrdiff_t shift = 1;
  for (const std::int64_t node : node_of_rank) shift = std::max(shift, std::ranges::count(node_of_rank, node));
  if (shift == static_cast<std::ptrdiff_t>(ranks)) shift = 1; // one node
  for (std::size_t i = 0; i < ranks; ++i)
    partner[static_cast<std::size_t>(order[i])] = order[(i + static_cast<std::size_t>(shift)) % ranks];
  return partner;
}

} // namespace kumihimo::saved_state
